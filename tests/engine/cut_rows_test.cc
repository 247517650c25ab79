// Folds and splits of a job: subsets of one data set that train as a file of those rows alone would.
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <set>
#include <sstream>

#include "engine/job_data.h"
#include "kernels/base/error.h"
#include "tests/engine/toy_fleet.h"

namespace shoal::engine {
namespace {

class CutRows : public testing::Test {
 protected:
  JobSpec whole(const ToyData& data = {.rows = 40}) {
    JobSpec job = toy_job(folder_.path(), "all", data);
    job.validation_file.clear();
    job.num_train_epochs = 1;
    return job;
  }
  JobRows rows_of(const JobSpec& job, DataSets& sets) {
    const auto vocabulary = data::Vocabulary::read(job.model.vocab);
    if (tokenizer_ == nullptr) tokenizer_ = std::make_shared<data::BertTokenizer>(vocabulary);
    labels_ = data::make_label_map(data::read_labels(job.train_file, dataset_options(job, {})));
    return sets.rows_of(job, tokenizer_, labels_);
  }
  std::set<std::int32_t> set_of(const data::Subset& rows) {
    std::set<std::int32_t> all;
    for (std::int64_t i = 0; i < rows.rows(); ++i) all.insert(rows[i]);
    return all;
  }

  TemporaryFolder folder_;
  std::shared_ptr<const data::BertTokenizer> tokenizer_;
  data::LabelMap labels_;
};

TEST_F(CutRows, FoldsShareOneDataSetAndHoldEveryRowOutOnce) {
  DataSets sets;
  std::set<std::int32_t> held_out;
  for (std::int64_t fold = 0; fold < 5; ++fold) {
    JobSpec job = whole();
    job.fold = Fold{.fold = fold, .n = 5};
    job.seed = static_cast<std::uint64_t>(fold);  // changes nothing
    const JobRows rows = rows_of(job, sets);
    EXPECT_EQ(rows.train.rows() + rows.validation.rows(), 40);
    EXPECT_EQ(&rows.train.dataset(), &rows.validation.dataset());
    for (const std::int32_t row : set_of(rows.validation)) {
      EXPECT_TRUE(held_out.insert(row).second) << row;
      EXPECT_FALSE(set_of(rows.train).contains(row));
    }
  }
  EXPECT_EQ(held_out.size(), 40u);
  EXPECT_EQ(sets.all().size(), 1u);
}

TEST_F(CutRows, SamplesAreTakenAfterTheCut) {
  JobSpec job = whole();
  job.validation_split_percentage = 25;
  job.max_train_samples = 7;
  job.max_eval_samples = 3;
  DataSets sets;
  const JobRows rows = rows_of(job, sets);
  EXPECT_EQ(rows.train.rows(), 7);
  EXPECT_EQ(rows.validation.rows(), 3);
}

// Case 25, of folds: the one row of a class is in one fold's validation part.
TEST_F(CutRows, RefusesALabelThatAFoldDoesNotTrainOn) {
  JobSpec job = whole();
  std::ofstream(job.train_file, std::ios::app) << "w0 w1\trare\n";
  int refused = 0;
  for (std::int64_t fold = 0; fold < 4; ++fold) {
    job.fold = Fold{.fold = fold, .n = 4};
    DataSets sets;
    try {
      rows_of(job, sets);
    } catch (const Error& error) {
      ++refused;
      EXPECT_EQ(std::string(error.what()),
                job.train_file.string() +
                    ":42: error: job all: label 'rare' has no row in the train part of fold " +
                    std::to_string(fold) + " (n = 4, seed = 0): all 1 are held out");
    }
  }
  EXPECT_EQ(refused, 1);
}

// A fold's job leaves the bits of a job on two files that hold its parts.
TEST_F(CutRows, AFoldTrainsAsFilesOfItsRowsWould) {
  JobSpec cut = whole();
  cut.name = "cut";
  cut.fold = Fold{.fold = 1, .n = 4, .seed = 3};
  JobSpec files = whole();
  files.name = "files";
  DataSets sets;
  const JobRows rows = rows_of(cut, sets);
  std::vector<std::string> lines;
  std::istringstream in(file_bytes(cut.train_file));
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  for (const auto& [name, part] :
       {std::pair("part.tsv", &rows.train), std::pair("rest.tsv", &rows.validation)}) {
    std::ofstream out(folder_ / name);
    out << lines.front() << "\n";
    for (std::int64_t i = 0; i < part->rows(); ++i)
      out << lines[static_cast<std::size_t>((*part)[i]) + 1] << "\n";
  }
  files.train_file = folder_ / "part.tsv";
  files.validation_file = folder_ / "rest.tsv";
  const FleetResult result = train_toys(toy_fleet(folder_ / "run", {cut, files}, 2));
  ASSERT_EQ(result.jobs.at(0).status, JobStatus::kDone) << result.jobs[0].reason;
  EXPECT_EQ(result.jobs[0].last, result.jobs[1].last);
  EXPECT_TRUE(file_bytes(result.jobs[0].folder / "model.safetensors") ==
              file_bytes(result.jobs[1].folder / "model.safetensors"));
}

}  // namespace
}  // namespace shoal::engine
