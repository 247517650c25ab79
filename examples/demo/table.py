#!/usr/bin/env python3
"""table.py RESULTS.CSV BAG_OF_WORDS.JSON: the run's accuracy beside the bag-of-words yardstick, a line a job."""

import csv
import json
import sys


def main():
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} RESULTS.CSV BAG_OF_WORDS.JSON")
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        jobs = [row for row in csv.DictReader(file) if row.get("status") in ("done", "failed", "stopped", "queued")]
    with open(sys.argv[2], encoding="utf-8") as file:
        yardstick = json.load(file)
    print(f"{'job':<8}{'accuracy':>10}{'bag of words':>14}{'updates':>9}{'seconds':>9}  folder")
    for job in jobs:
        if job["status"] != "done":
            print(f"{job['name']:<8}{job['status']}: {job['reason']}")
            continue
        print(f"{job['name']:<8}{float(job['eval_accuracy']):>10.3f}{yardstick[job['name']]:>14.3f}"
              f"{job['updates']:>9}{float(job['seconds']):>9.1f}  {job['folder']}")


if __name__ == "__main__":
    main()
