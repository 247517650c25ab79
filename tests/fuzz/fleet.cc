// The fleet file, with its expansion. Paths lead nowhere: what the disk holds is not part of the input.
#include <set>

#include "engine/config/fleet_file.h"
#include "tests/fuzz/target.h"

namespace shoal::fuzz {
namespace {

void read_fleet(std::string_view input) {
  const std::filesystem::path file = input_file("fleet.toml", input);
  const engine::FleetSpec fleet = engine::parse_fleet(std::string(input), file);
  std::set<std::string> names;
  for (const engine::JobSpec& job : fleet.jobs) promise(names.insert(job.name).second, "names are unique");
}

const char* const kHead = R"([fleet]
on_error = "skip"
[defaults]
model = { preset = "bert-tiny", vocab = "fleet-vocab.txt" }
train_file = "f.tsv"
)";

}  // namespace

std::vector<Target> fleet_targets() {
  input_file("fleet-vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n");
  input_file("f.tsv", "text\tlabel\na\t1\na a\t0\n");
  const std::string head = kHead;
  return {{"fleet_file",
           read_fleet,
           {head + "[[job]]\nname = \"lr{learning_rate}-s{seed}\"\nsweep.learning_rate = [1e-5, "
                   "2e-5]\nsweep.seed = [1, 2]\n",
            head + "[[job]]\nname = \"fold{fold}\"\nfolds = { n = 3, repeats = 2, seed = 0 }\n",
            head + "[[job]]\nname = \"{customer}\"\neach.customer = [\"a\", "
                   "\"b\"]\nvalidation_split_percentage = 10\n",
            head + "[[job]]\nname = \"t{trial:03}\"\nsweep.learning_rate = { loguniform = [1e-6, 1e-4] }\n"
                   "sweep.warmup_steps = { uniform = [0.0, 0.2] }\nsearch = { n_trials = 4, seed = 0 }\n",
            "job = [ { name = \"a\", header = false, text = 4 }, { name = \"b\" } ]\n" + head,
            "[preset.p]\nseed = 3\n" + head +
                "[[job]]\nname = \"x\"\nuse = [\"p\"]\nfp16 = true\nbatch_size = 8\n",
            "[[trunk]]\nname = \"t\"\nmode = \"joint\"\n[[job]]\ntrunk = \"t\"\neach.head = [\"a\", \"b\"]\n",
            "a = 1\n[b\n", "x = \"\\u00e9\"\nd = 1979-05-27T07:32:00Z\n"}}};
}

}  // namespace shoal::fuzz
