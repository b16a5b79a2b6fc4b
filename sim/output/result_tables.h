// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/figures.h"
#include "sim/output/result.h"

#include <functional>
#include <string>
#include <vector>

namespace switchfold {

// Parts of what `run` prints. An empty text: the result has nothing of it.

[[nodiscard]] std::vector<const ScenarioFigures*> figures_of(const ExperimentResult& result);
/// Cells of a table of these figures: a line of titles that begins with `first`, then a row per
/// scenario.
[[nodiscard]] std::vector<std::vector<std::string>> figure_rows(
    const ExperimentResult& result, std::string first, const std::vector<const Figure*>& figures,
    const std::function<std::string(const Figure&, const ScenarioFigures&)>& text);
/// One row per scenario: its figures, and on GPUs the causes of its slowdown.
[[nodiscard]] std::string figures_table(const ExperimentResult& result, bool of_gpus);
/// A row per scenario of these figures.
[[nodiscard]] std::string
figures_table(const ExperimentResult& result, const std::vector<const Figure*>& figures);
/// The intervals of a table's figures.
[[nodiscard]] std::string
intervals_table(const ExperimentResult& result, const std::vector<const Figure*>& figures);
/// The same of collectives' times and bandwidths.
[[nodiscard]] std::string collective_intervals_table(const ExperimentResult& result);
/// The causes of what is slowed beside the backward pass.
[[nodiscard]] std::string slowed_table(const ExperimentResult& result);
/// What intervals rest on: a line for all scenarios with the same basis.
[[nodiscard]] std::string basis_lines(const ExperimentResult& result);
/// Tables of a training step, of a whole run if there is one, and what they mean.
[[nodiscard]] std::string step_tables(const ExperimentResult& result);

/// Above the tables: what was run, and what scenarios set.
[[nodiscard]] std::string result_heading(const ExperimentResult& result, bool has_ranks);
/// Notes of the workload and the scenarios; a note common to all scenarios appears once.
[[nodiscard]] std::string note_lines(const ExperimentResult& result);

}  // namespace switchfold
