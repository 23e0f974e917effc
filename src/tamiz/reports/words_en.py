"""The words of the report in English.

``{fields}`` are filled in; a part in ``[[ ]]`` is left out where one of its fields is not known.
Keys that start with ``js_`` are used by the page itself, where %1, %2, ... are filled in.
"""

from __future__ import annotations

WORDS: dict[str, str] = {
    # ---------------------------------------------------------------------------- the page
    "title": "Feature selection: {name}",
    "title_tuning": "Parameters of a machine: {name}",
    "a_table": "a table",
    "made": "made with tamiz {version}",
    "contents": "Contents",
    "skip": "Skip to the report",
    "footer": "This file holds everything it shows and asks for nothing from the network.",
    "theme": "Colours",
    "theme_auto": "Colours: as the system",
    "theme_light": "Colours: light",
    "theme_dark": "Colours: dark",
    "save_picture": "Save this figure as",
    "keys": "Chart. Arrow keys read out its values.",
    "section_summary": "Summary",
    "section_tradeoff": "How many features?",
    "section_plane": "What the judge sees",
    "section_redundancy": "Features that can stand in",
    "section_learning": "Would more rows help?",
    "section_data": "The data",
    "section_ranking": "Ranking of all features",
    "section_features": "The selected features",
    "section_curves": "Error of each method",
    "section_bias": "Honest and apparent error",
    "section_signal": "Is there signal?",
    "section_stability": "Stability of the selection",
    "section_card": "Quality of the predictions",
    "section_tuning": "Parameters of the machine",
    "section_methods": "Do the methods differ?",
    "section_repeat": "How to repeat this",
    "section_glossary": "Glossary",
    # ------------------------------------------------------------------------ common words
    "no_name": "(no name)",
    "quoted": "“{name}”",
    "and_more": "{names} and {n} more",
    "between": "{low} to {high}",
    "points": "{n} points",
    "points_short": "{n} pts",
    "count_feature_one": "{n} feature",
    "count_feature_many": "{n} features",
    "count_row_one": "{n} row",
    "count_row_many": "{n} rows",
    "count_class_one": "{n} class",
    "count_class_many": "{n} classes",
    "count_combination_one": "{n} combination",
    "count_combination_many": "{n} combinations",
    "count_column_one": "{n} column",
    "count_column_many": "{n} columns",
    "rows": "Rows",
    "features": "Features",
    "feature": "Feature",
    "target": "Target",
    "class": "Class",
    "column": "Column",
    "reason": "Reason",
    "method": "Method",
    "judge": "Judge",
    "size": "Size",
    "honest": "Honest error",
    "apparent": "Apparent error",
    "apparent_short": "apparent {error}",
    "interval": "Interval",
    "interval_of": "{level} interval",
    "selection_bias": "Selection bias",
    "stability": "Stability",
    "signal": "Signal",
    "rank": "Rank",
    "score": "Score",
    "pvalue": "p-value",
    "seconds": "Time to select",
    "median": "Median",
    "middle_half": "Middle half",
    "value": "Value",
    "n_features": "Number of features",
    "metric_error": "Error",
    "metric_score": "Score",
    "metric_accuracy": "Accuracy",
    "metric_balanced_accuracy": "Balanced accuracy",
    "metric_balanced error": "Balanced error",
    "metric_1 − roc_auc": "1 − area under the ROC curve",
    "metric_1 − f1": "1 − F1",
    "metric_mean squared error": "Mean squared error",
    "metric_mean absolute error": "Mean absolute error",
    "metric_root mean squared error": "Root mean squared error",
    "baseline_random": "random order",
    "baseline_all": "all features",
    "role_numeric": "numeric",
    "role_categorical": "categorical",
    "role_id": "identifier",
    "role_text": "free text",
    "role_date": "date",
    "role_constant": "constant",
    "role_empty": "empty",
    "role_duplicate": "duplicate",
    "role_leak": "gives the target away",
    "role_ignore": "left out",
    "task_classification": "classification",
    "task_regression": "regression",
    # ----------------------------------------------------------------------------- summary
    "question_classes": (
        "Which of {features} tell the {classes} of “{target}” apart? Studied on {rows}."
    ),
    "question_numbers": "Which of {features} predict “{target}”? Studied on {rows}.",
    "question_none": "Which of {features} matter? Studied on {rows}, without a target.",
    "question_tuning": (
        "With which parameters does a machine best predict “{target}” from {features}? Studied on "
        "{rows}."
    ),
    "ranked_all": "The ranking and its scores come from all {rows}.",
    "ranked_cuts": (
        "The ranking and its scores come from all {rows}, but for the bounds of intervals, which "
        "come from a sample: see the notes."
    ),
    "ranked_sample": (
        "Of the {rows} the method {method} looks at a sample, from which the ranking and its "
        "scores come: see the notes."
    ),
    "sample_lede": (
        "Pictures of columns show a sample of {sample} of the rows, drawn at random, each row with "
        "the same chance[[ (seed {seed})]]."
    ),
    "sample_classes": "So each class has about its proportion in the sample, not exactly.",
    "tile_error": "Error to expect on new data",
    "tile_interval": "{level} interval: {between}",
    "tile_without": "Error without features",
    "tile_without_below": "always the same answer",
    "tile_features": "Features recommended",
    "tile_of": "of {n}",
    "tile_ranked": "Features ranked",
    "tile_tuned": "Cross-validated error",
    "tile_cells": "the chosen one of {n} combinations",
    "agreement_poor": "poor agreement",
    "agreement_fair": "fair agreement",
    "agreement_good": "good agreement",
    "signal_yes": "more than chance",
    "signal_no": "no more than chance",
    "answer_smallest": "Smallest",
    "answer_most_accurate": "Most accurate",
    "answer_both": "Smallest, and most accurate too",
    "answer_all": "All of them: nothing is left out.",
    "answer_line": "{what}: {n} by {method}, judge {judge}; honest error {error}[[ ({between})]]",
    "mean_in_splits": "Smoothed error",
    "copy_names": "Copy the names",
    "advice_ranking": "The method {method} selects {n}, best first:",
    "more_names": "{n} more",
    "expect": (
        "On new data of the same kind expect an error of about {error}[[ ({metric})]][[, "
        "{one_in}]].[[ The {level} interval goes from {between}.]] It is the error of the whole "
        "procedure, on rows that had no part in anything: method, judge, number of features and "
        "parameters were chosen without them."
    ),
    "without_beaten": (
        "Without any feature it would be {without}; the whole interval is below that."
    ),
    "without_paired": (
        "Without any feature it would be {without}. The interval reaches that far, but in the same "
        "splits the procedure errs less ({p})."
    ),
    "without_known": "Without any feature it would be {without}.",
    "sizes_same": (
        "Each of the {n} splits, left to itself, chose {size}[[, not {answer}: take the number as "
        "a rough one]]."
    ),
    "sizes_vary": (
        "Left to themselves, the {n} splits chose from {low} to {high}[[, not {answer}]]: take the "
        "number as a rough one."
    ),
    "no_signal": (
        "Nothing is recommended: even the most accurate procedure predicts no better than no "
        "feature at all. Without features the error is {without}; its error is {error}."
    ),
    "no_signal_chance": (
        "Nothing is recommended: even the most accurate procedure is not better than no feature at "
        "all beyond chance. Without features the error is {without}; its error is {error}, and the "
        "difference may be chance[[ ({p})]]."
    ),
    "cut_short": (
        "The study was cut short: {done} of {all} splits are complete[[, with which {rows} were "
        "tested]]. All numbers come from those."
    ),
    "cut_short_nothing": (
        "The study was cut short before any of its {all} splits was complete: nothing can be said "
        "about errors."
    ),
    "one_in": "about one case in {n}",
    "no_error_seen": (
        "No error was seen, but that is no promise of none: with {rows} samples, an error of up to "
        "about {bound} would go unseen too often to be ruled out at {level}."
    ),
    "shuffled_signal": (
        "There is signal: with the labels shuffled, {n} of {all} attempts did as well ({p})."
    ),
    "shuffled_no_signal": (
        "There is no clear signal: with the labels shuffled, {n} of {all} attempts did as well "
        "({p})."
    ),
    "no_comparison": (
        "Features were ranked, but no error was measured: how well they predict is not known from "
        "this report."
    ),
    "only_tuned": (
        "Parameters were chosen, features were not. The error of the chosen combination is the one "
        "that looked best among many, and so a little too good: to state what the machine will do "
        "on new data, keep samples apart that took no part in choosing."
    ),
    "why": "Why these features",
    "why_accurate": "Why the most accurate answer",
    "reason_only_one": (
        "It is the only combination of method, judge and number of features that was tried; its "
        "smoothed error is {mean}."
    ),
    "reason_least_error": (
        "Of all {n_triples} combinations of method, judge and number of features it has the least "
        "smoothed error: {mean}."
    ),
    "reason_none_smaller": (
        "Others are not worse by more than one standard error[[, nor by more than {limit}]], but "
        "none of those has fewer than {features}."
    ),
    "reason_not_far_worse": (
        "Others come within one standard error with as few as {least_size}, but are worse by more "
        "than {limit}."
    ),
    "reason_ties": "{n_tied} of the same size have the same smoothed error.",
    "reason_ties_one": "{n_tied} of the same size has the same smoothed error.",
    "reason_one_split": (
        "Only one split was finished: standard errors are not known, and this is a first guess."
    ),
    "reason_steadiest": (
        "Combinations of other methods with {size} features whose error differs from its own by no "
        "more than half a point: {n_alike}. Of all these, its selections agree most."
    ),
    "reason_fewest_within_error": (
        "It has the fewest features of all combinations that are not worse than the best one by "
        "more than one standard error[[, nor by more than {limit}]]. The best one is {best_method} "
        "with {best_size}, judge {best_judge}: its smoothed error is {best_mean}, that of this one "
        "{mean}. The difference is {difference}, its standard error {standard_error}."
    ),
    "reason_fewest_within_error_all": (
        "It has the fewest features of all combinations that are not worse than the best one by "
        "more than one standard error[[, nor by more than {limit}]]. The best one takes all "
        "features, judge {best_judge}: its smoothed error is {best_mean}, that of this one {mean}. "
        "The difference is {difference}, its standard error {standard_error}."
    ),
    "reason_stable": (
        "With {features}, {method} selects much the same in all splits (index {nogueira}; 1 is "
        "perfect)."
    ),
    "reason_fairly_stable": (
        "With {features}, {method} selects partly the same in the splits (index {nogueira}; 1 is "
        "perfect)."
    ),
    "reason_fragile": (
        "With {features}, the selection of {method} differs much from split to split (index "
        "{nogueira}; 1 is perfect): do not read much into single features."
    ),
    "reason_all_features": "It uses all of the features: {size}.",
    "reason_all_features_better": (
        "With all {size} features the same judge has a smoothed error of {all_mean} instead of "
        "{mean}, better by more than one standard error: use these only if fewer features are "
        "worth that."
    ),
    "reason_better_than_all": (
        "With all {size} features the same judge has a smoothed error of {all_mean} instead of "
        "{mean}, worse by more than one standard error."
    ),
    "reason_near_all": (
        "With all {size} features the same judge has a smoothed error of {all_mean}, which is "
        "within one standard error of {mean}."
    ),
    "reason_boundary_linear": (
        "A linear model is enough: the best judge, {best}, is better than a linear one by "
        "{difference}, no more than one standard error ({standard_error})."
    ),
    "reason_boundary_linear_best": (
        "A linear model is enough: no other judge has a smaller smoothed error."
    ),
    "reason_boundary_curved": (
        "The data want a curved boundary: the best judge, {best}, is better than a linear one by "
        "{difference}, more than one standard error ({standard_error})."
    ),
    "reason_boundary_rules": (
        "The data want rules with thresholds: the best judge, {best}, is better than a linear one "
        "by {difference}, more than one standard error ({standard_error})."
    ),
    "reason_selection_bias_smallest": (
        "A careless estimate, with the features ranked on all data and the best combination of at "
        "most this size picked afterwards, would have promised {apparent}: {bias} too good."
    ),
    "reason_selection_bias_more_smallest": (
        "A careless estimate, with the features ranked on all data and the best combination of at "
        "most this size picked afterwards, would have promised {apparent}, {bias} more than the "
        "honest error: no selection bias shows here."
    ),
    "reason_selection_bias_none_smallest": (
        "A careless estimate, with the features ranked on all data and the best combination of at "
        "most this size picked afterwards, would have promised {apparent}, the same as the honest "
        "error."
    ),
    "reason_selection_bias_accurate": (
        "A careless estimate, with the features ranked on all data and the best combination picked "
        "afterwards, would have promised {apparent}: {bias} too good."
    ),
    "reason_selection_bias_more_accurate": (
        "A careless estimate, with the features ranked on all data and the best combination picked "
        "afterwards, would have promised {apparent}, {bias} more than the honest error: no "
        "selection bias shows here."
    ),
    "reason_selection_bias_none_accurate": (
        "A careless estimate, with the features ranked on all data and the best combination picked "
        "afterwards, would have promised {apparent}, the same as the honest error."
    ),
    "measured": "How it was measured",
    "measured_splits": "Over {n} splits; the measure is the {metric}.",
    "measured_skewed": (
        "A class is rare, so the error is balanced: the mean over the classes of the proportion "
        "that is wrong."
    ),
    "measured_balanced": (
        "The error is balanced: the mean over the classes of the proportion that is wrong."
    ),
    "measured_weights": "The judges weight the classes, so that rare ones count as much as others.",
    "measured_methods_rows": (
        "The method {name} looks at no more than {n} of each training part, drawn at random."
    ),
    "measured_judges_rows": (
        "The judge {name} learns from no more than {n} of each training part, drawn at random."
    ),
    "measured_inner_rows": (
        "What is chosen inside a training part is chosen with no more than {n}, drawn at random."
    ),
    "left_out_method": "Left out to save time: the method {name}. To include it:",
    "left_out_judge": "Left out to save time: the judge {name}. To include it:",
    "left_out_sizes": "Left out to save time: the sizes {name}. To include them:",
    "left_out_apparent_error": "Left out to save time: the apparent error. To include it:",
    "warning_leak": (
        "Left out, since each alone gives the target away: {names}. If one is known before the "
        "target is, keep it: --keep {first}."
    ),
    "warning_leak_used": (
        "Gives the target away alone: {names}. Check that it is known before the target is; if "
        "not, leave it out: --drop {first}."
    ),
    "warning_skew": (
        "The class “{name}” is rare: {n} of {all} ({share}). Sensitivity and balanced accuracy say "
        "more here than plain accuracy."
    ),
    "warning_id": "Not used, since they look like identifiers: {names}.",
    "warning_id_used": (
        "Perhaps identifiers, but used as features: {names}. If they are, leave them out: --drop "
        "{first}."
    ),
    "warning_text": "Not used, since they hold free text: {names}.",
    "warning_date": "Not used, since they hold dates or times: {names}.",
    "warning_empty": "Without any value: {names}.",
    "warning_constant": "Constant, and so without information: {names}.",
    "warning_duplicate": "Repeat another column ({n}): {names}.",
    "warning_transposed": (
        "The table seems to hold samples in columns and features in rows: {names}. If so, use "
        "--transpose --labels FILE."
    ),
    "tradeoff_intro": (
        "Every point is a combination of method, judge and number of features. Its error is the "
        "mean over the splits, smoothed: the next numbers of features and the other methods count "
        "too, so that a single lucky result does not win. Strong points are not worse than the "
        "best one by more than one standard error[[, nor by more than {limit}]]; the smallest of "
        "them is the first answer."
    ),
    "tradeoff_title": "{metric} (smoothed) against number of features",
    "tradeoff_finding": (
        "Of {n}, no other beats those on the line in both error and size: it goes from "
        "{first_error} with {first} to {last_error} with {last}."
    ),
    "tradeoff_one": (
        "Of {n}, one with {first} is both the smallest and the most accurate: {first_error}."
    ),
    "tradeoff_cut": "Not drawn, since they lie above the picture: {n}.",
    "front": "best trade-off",
    "without_mark": "no features: {error}",
    "plane_intro": (
        "Two of the {n} that are recommended, and what the judge {judge} says when it is fitted to "
        "these two alone: the colour of the ground is the class it names. Of the first {tried} the "
        "two were taken that it errs least with."
    ),
    "plane_intro_both": (
        "Both recommended features, and what the judge {judge} says when it is fitted to them: the "
        "colour of the ground is the class it names."
    ),
    "plane_title": "Two features and the boundary of the judge {judge}",
    "plane_finding": (
        "Fitted to “{first}” and “{second}” alone, the judge is wrong for {wrong} of the {rows} "
        "that it was fitted to."
    ),
    "plane_drawn": "Of all rows, {n} are drawn.",
    "plane_curved": (
        "A feature with heavy tails is transformed first: so the boundary of a linear judge looks "
        "bent here."
    ),
    "plane_spread": "Points are spread a little along {names}, which has few values.",
    "threshold_intro": (
        "The recommended feature in each class, and what the judge {judge} says when it is fitted "
        "to it: the bar below is the class it names, broken lines are where it changes."
    ),
    "threshold_title": "“{name}” and what the judge makes of it",
    "threshold_finding": (
        "The judge changes its answer at {values}. It is wrong for {wrong} of the {rows} that it "
        "was fitted to."
    ),
    "threshold_many": (
        "The judge changes its answer {n} times, first at {values}. It is wrong for {wrong} of the "
        "{rows} that it was fitted to."
    ),
    "threshold_none": (
        "In this range the judge always gives the same answer. It is wrong for {wrong} of the "
        "{rows} that it was fitted to."
    ),
    "levels_intro": (
        "The values of the recommended feature in each class. Behind the arrow is the class that "
        "the judge {judge} names for a value when it is fitted to this feature."
    ),
    "levels_fitted": (
        "Fitted to “{name}” alone, the judge is wrong for {wrong} of the {rows} that it was fitted "
        "to."
    ),
    "line_intro": (
        "The target over the first recommended feature, and what the judge {judge} predicts when "
        "it is fitted to this feature alone."
    ),
    "line_title": "“{target}” over “{name}”",
    "line_finding": "The line is what the judge {judge} predicts from “{name}” alone.",
    "redundancy_intro": (
        "Features that say nearly the same: their rank correlation (Spearman) is at least {near}, "
        "or at most −{near}. One can often stand in for the other, and which of them is selected "
        "may be chance. Measured on {rows}."
    ),
    "redundancy_coded": "Left out here, since their categories have no order: {n}.",
    "redundancy_title": "Rank correlation of the recommended features and their near-duplicates",
    "redundancy_finding": (
        "Of {all}, {n} have a near-duplicate. The closest pair is “{first}” and “{second}” ({r})."
    ),
    "redundancy_none": (
        "No feature has a rank correlation of {near} or more with a recommended one."
    ),
    "redundancy_table": "Near-duplicates of each feature",
    "redundancy_caption": (
        "Near-duplicates with a rank correlation of at least {near}, positive or negative"
    ),
    "chosen_feature": "Recommended",
    "near_duplicates": "Near-duplicates",
    "chosen_mark": "● recommended",
    "learning_intro": (
        "The smallest answer ({size}) learnt from parts of the training rows. Features are ranked "
        "anew each time. Faint points are single folds."
    ),
    "learning_title": "{metric} by number of training rows",
    "learning_axis": "Training rows",
    "learning_test": "on test rows",
    "learning_training": "on training rows",
    "learning_helps": (
        "More rows would probably help: from {few} to {many} the error still falls from {before} "
        "to {after}, by more than one standard error ({standard_error})."
    ),
    "learning_hardly": (
        "More rows would hardly help: from {few} to {many} the error goes from {before} to "
        "{after}, a change of no more than one standard error ({standard_error})."
    ),
    "learning_rises": (
        "There is no sign that more rows would help: from {few} to {many} the error rises from "
        "{before} to {after}."
    ),
    "learning_unknown": "From {few} to {many} the error goes from {before} to {after}.",
    # -------------------------------------------------------------------------------- data
    "data_name": "Name",
    "data_source": "Source",
    "sample": "Sample",
    "sample_of": (
        "{n} ({share}), drawn at random, for pictures of columns; all numbers of this section are "
        "of all rows, unless they say otherwise"
    ),
    "indicators": "Indicators",
    "indicators_of": "{n} of the features stand for levels of {columns}, as “{name}” does",
    "missing_cells": "Missing cells",
    "warnings": "Worth knowing",
    "no_warnings": "Nothing conspicuous was found in the columns.",
    "in_sample": "In the sample of {n}, which need not hold for all rows:",
    "looked_sample": (
        "Columns that repeat another, give the target away or may be identifiers were looked for "
        "in the sample only[[, among {among}]]."
    ),
    "looked_among": (
        "Columns that repeat another, give the target away or may be identifiers were looked for "
        "among {among} only, those of the features shown below."
    ),
    "warn_leak": (
        "Gives the target without error: {n}: {names}. Check that it is known before the target is."
    ),
    "warn_constant": "Constant, and so without information: {n}: {names}.",
    "warn_duplicate": "Repeats another column: {n}: {names}.",
    "warn_empty": "Without any value, set aside: {n}: {names}.",
    "warn_empty_kept": "Without any value: {n}: {names}.",
    "warn_id": "Looks like an identifier, set aside: {n}: {names}.",
    "warn_text": "Free text, set aside: {n}: {names}.",
    "warn_date": "Dates or times, set aside: {n}: {names}.",
    "warn_doubtful": (
        "Perhaps identifiers ({n}): {names}. The name says so, and hardly any value returns; if "
        "they are, leave them out."
    ),
    "warn_small_class": "The class “{name}” has only {n}: what is said about it is very uncertain.",
    "warn_unbalanced": (
        "The classes are far from balanced: “{name}” has {share} of the rows. Look at sensitivity "
        "and balanced accuracy rather than at the error."
    ),
    "warn_wide": (
        "There are many more features ({features}) than rows ({rows}): some will look good by "
        "chance alone, and selection bias is large."
    ),
    "classes_title": "Rows in each class",
    "classes_finding": "The largest class is “{name}” with {share} of the rows.",
    "gaps_title": "Columns with missing values",
    "gaps_finding": (
        "{n} with missing values, most of all “{name}”, which misses {share} of its values."
    ),
    "aside_caption": "Set aside: {n}",
    "aside_id": "an identifier: a value of its own for nearly every row",
    "aside_text": "free text",
    "aside_date": "dates or times",
    "aside_empty": "no value in any row",
    "aside_ignore": "left out as asked",
    "notes": "Notes of the program ({n})",
    # ----------------------------------------------------------------------------- ranking
    "ranking_intro": (
        "All features in the order of {method}, ranked on all data, with the ranks of the other "
        "methods beside it."
    ),
    "ranking_intro_alone": "All features in the order of {method}, ranked on all data.",
    "ranking_intro_sample": (
        "All features in the order of {method}, which looked at a sample of the rows."
    ),
    "ranking_how": "Click a heading to sort.",
    "ranking_caption": "Ranking by {method}",
    "recommended_short": "Selected",
    "rank_by": "{method} rank",
    "frequency": "In splits",
    "kind": "Kind",
    "missing": "Missing",
    "search": "Search features",
    "only_selected": "selected only",
    "rows_per_page": "Rows",
    "save_csv": "Save as CSV",
    "previous": "Previous",
    "next": "Next",
    "js_showing": "%1–%2 of %3",
    "js_none": "No feature matches.",
    "js_yes": "yes",
    "js_no": "–",
    # ---------------------------------------------------------------------------- features
    "features_intro": (
        "Where the values of each selected feature lie, by class: a curve with its median as an "
        "upright line, each drawn to its own height, or bars with the proportion of the class that "
        "has a value. The further apart the classes, the more the feature says on its own; some "
        "features only say something together with others. Axes are logarithmic where the values "
        "span decades."
    ),
    "features_intro_numbers": "The target over each selected feature, one point for each row.",
    "sample_shown": "The pictures show a sample of {n} of the {rows}, drawn at random.",
    "features_intro_points": (
        "The target over each selected feature, with {n} points: rows drawn at random[[ from the "
        "{sample} of the sample]]."
    ),
    "features_first": "The first {n} of {all} are shown.",
    "classes_absent": "No row of the sample is of these classes: {names}.",
    "largest_classes": "The {n} largest classes are drawn.",
    "more_features": "{n} more",
    "n_missing": "{n} missing",
    "n_missing_all": "{n} missing in all rows",
    "rows_sample": "Rows of the sample",
    "finding_sample": "In the sample: {finding}",
    "no_values": "no values",
    "all_rows": "all rows",
    "other_levels": "{n} other values",
    "medians_finding": "Medians: {medians}.",
    "levels_finding": "Most frequent value: {levels}.",
    "correlation_finding": "Correlation with the target {r}.",
    # ------------------------------------------------------------------------------ errors
    "curves_intro": (
        "Solid: honest error, with the features ranked inside the training part of each split, and "
        "its interval as a band. Dashed: apparent error, with the features ranked on all data, "
        "samples to be tested included."
    ),
    "curves_title": "{metric} by number of features, judge {judge}",
    "curves_finding": (
        "{method} goes from {first} with {first_size} to its least error of {error} with {size} "
        "features."
    ),
    "curves_gap": "The apparent error is up to {gap} too good.",
    "curves_cut": "Errors above {error} are cut off.",
    "level_of": "{name} ({error})",
    "curves_caption": "Honest error by number of features, judge {judge}",
    "as_table_judge": "The numbers as a table ({judge})",
    "as_table": "The numbers as a table",
    "whole_procedure": "the whole procedure",
    "judge_is": "Judge {judge}",
    "recommended_size": "recommended",
    "bias_intro": (
        "The filled mark is the honest error with its interval, the hollow one what the same "
        "method seems to achieve when its features are selected on all data first. The gap between "
        "them is the selection bias."
    ),
    "bias_title": "Apparent and honest error of each method",
    "bias_finding": (
        "The gap is widest for {method}: it seems to err {apparent} and honestly errs {error}, a "
        "selection bias of {bias}."
    ),
    "bias_none": "No method looks better when its features are selected on all data first.",
    "majority_mark": "no features",
    "own_size": "{method} (own size)",
    "methods_caption": "All methods; size is the number of features",
    "sizes_in_splits": "Size in the splits",
    # ------------------------------------------------------------------------------ signal
    "shuffles_intro": (
        "If the features had nothing to do with the target, the real labels would do no better "
        "than shuffled ones. Everything, selection included, was repeated with shuffled labels."
    ),
    "shuffles_title": "Score with the real labels and with shuffled ones",
    "shuffles_finding_yes": (
        "The real labels reach {score}, shuffled ones {middle} in the middle; {n} of {all} "
        "shuffles did as well ({p})."
    ),
    "shuffles_finding_no": (
        "The real labels reach {score}, shuffled ones {middle} in the middle; {n} of {all} "
        "shuffles did as well ({p}), which is no evidence of signal."
    ),
    "shuffles_axis": "Shuffles",
    "shuffled": "shuffles",
    "observed_score": "real labels: {score}",
    # --------------------------------------------------------------------------- stability
    "stability_intro": (
        "Each split selects from slightly different samples[[; here each method selects {size}]]. "
        "The index of Nogueira is 1 if all selections are the same and about 0 if they are no more "
        "alike than random ones."
    ),
    "stability_title": "Stability of each method",
    "stability_finding": (
        "{method} has an index of {index}: {words}. The most stable method is {best} with "
        "{best_index}."
    ),
    "stability_undefined": "The index is not defined for these selections.",
    "choices_intro": (
        "Inside each split, method, judge and number of features were chosen anew from the "
        "training part alone. Filled: the split chose the feature."
    ),
    "choices_title": "What each split chose",
    "choices_finding": "Chosen in all {n} splits: {always}; in at least one: {ever}.",
    "choices_first": "The first {n} are shown.",
    "sizes_above": "Number of features in each split",
    "split_number": "Split {n}",
    "found_by": "Found by",
    "by_judge": "{method}, judge {judge}",
    "more_stability": "The same for each method with as many features",
    "nogueira": "Nogueira’s index",
    "kuncheva": "Kuncheva’s index",
    "jaccard": "Jaccard’s index",
    "selections": "Selections",
    "mark_poor": "fair from",
    "mark_good": "good from",
    "map_title": "The {n} that {method} selects most often, split by split",
    "map_finding": "In all {n} splits: {always}; in at least one: {ever}.",
    "selected_in": "selected in {n} of {all} splits ({share})",
    "splits_axis": "{n} splits, one column each",
    "frequency_caption": "How often each method selects them",
    "card_intro": (
        "Counted over {n} predictions, each by a machine that had not seen the row, selection "
        "included."
    ),
    "card_intro_once": (
        "{rows} were predicted once, each by a machine that had not seen it, selection included.[[ "
        "Not tested: {left}.]]"
    ),
    "card_intro_repeats": (
        "Counted over {n} predictions of {rows}, one in each repeat, each by a machine that had "
        "not seen the row, selection included.[[ Not tested: {left}.]]"
    ),
    "card_honest": (
        "Error of the whole procedure: {error}[[ ({metric})]][[; {level} interval {between}]]."
    ),
    "card_pooled": (
        "It is a mean over the splits; the measures below are of all predictions together, and so "
        "may differ a little."
    ),
    # -------------------------------------------------------------------------------- card
    "positive_class": "The positive class is “{name}”.",
    "confusion_caption": "Confusion matrix: rows are the true classes, percentages are of the row",
    "true_predicted": "True \\ predicted",
    "is_class": "{name}",
    "predicted_class": "{name}",
    "card_caption": "Report card",
    "measure": "Measure",
    "meaning": "Meaning",
    "per_class": "Each class against the others",
    "per_class_caption": "Measures of each class",
    "score_sensitivity": "Sensitivity",
    "score_specificity": "Specificity",
    "score_precision": "Precision",
    "score_accuracy": "Accuracy",
    "score_balanced_accuracy": "Balanced accuracy",
    "score_f1": "F1",
    "score_macro_f1": "Macro F1",
    "score_mcc": "Matthews’ correlation",
    "score_roc_area": "Area under the ROC curve",
    "score_macro_precision": "Macro precision",
    "means_sensitivity": "proportion of the positive cases that are found",
    "means_specificity": "proportion of the negative cases that are left alone",
    "means_precision": "proportion of those called positive that are",
    "means_accuracy": "proportion of right answers",
    "means_balanced_accuracy": "mean proportion found over the classes",
    "means_f1": "harmonic mean of precision and sensitivity",
    "means_macro_f1": "mean of F1 over the classes",
    "means_mcc": "−1 all wrong, 0 chance, 1 all right",
    "means_roc_area": "chance that a positive case scores above a negative one",
    "means_macro_precision": "mean of the precision over the classes",
    "roc_title": "ROC curve",
    "true_positives": "Positive cases found (sensitivity)",
    "false_positives": "False alarms among the negative",
    "at_false_positives": "with {share} false alarms",
    "at_true_positives": "with {share} found",
    "precise": "Precision: right among those called positive",
    "roc_finding": "The area under the curve is {area}; 0.5 would be chance, 1 perfect.",
    "roc_finding_several": (
        "Each class against the others, its area in brackets; the least is {area}, of “{name}”. "
        "0.5 would be chance, 1 perfect."
    ),
    "recall_title": "Precision and sensitivity",
    "recall_finding": (
        "The average precision is {area}; chance would reach {chance} (dotted), 1 is perfect."
    ),
    "recall_finding_several": (
        "Each class against the others, its average precision in brackets; the least is {area}, of "
        "“{name}”, where chance would reach {chance} (dotted)."
    ),
    "curves_within": (
        "The splits chose different judges ({judges}), whose decision values have no common scale. "
        "They are compared within each split only, as ranks."
    ),
    # ------------------------------------------------------------------------------ tuning
    "tuning_intro": "Chosen: {params}, with a cross-validated error of {error}.",
    "tuning_title": "{metric} over the parameters: the stronger the colour, the lower",
    "tuning_finding": (
        "Errors go from {low} to {high}; {n} of {all} cells are within one standard error of the "
        "least. The ring marks the chosen cell."
    ),
    "tuning_caption": "The best combinations",
    "chosen_cell": "chosen",
    "deviation": "Standard deviation",
    # ----------------------------------------------------------------------------- methods
    "ranks_intro": "Test of the hypothesis that all methods are equal: {test}, over {n} runs, {p}.",
    "ranks_title": "Mean rank of the methods: 1 is best, bars join those that do not differ",
    "ranks_none": "None of the {n} pairs of methods differs beyond chance.",
    "ranks_some": (
        "{n} of {all} pairs of methods differ beyond chance, such as {first} and {second}."
    ),
    "test_corrected t": "corrected resampled t-test (Nadeau and Bengio)",
    "test_Friedman": "Friedman’s test",
    "test_Wilcoxon": "Wilcoxon’s signed-rank test",
    "critical_difference": "critical difference {n}",
    "mean_rank": "Mean rank",
    "mean_error": "Mean error",
    "pairs_folded": "All pairs ({n})",
    "pairs_caption": "Pairs of methods",
    "pair": "Pair",
    "difference": "Difference",
    "adjusted": "Adjusted p",
    "differ": "Differ",
    # ------------------------------------------------------------------------------ repeat
    "repeat_intro": "With the same data, versions and seed the same numbers come out.",
    "repeat_intro_plan": (
        "With the same data, versions, seed and plan the same numbers come out. What fits into the "
        "time is planned anew on every machine: the plan is among the parameters."
    ),
    "copy": "Copy",
    "copied": "Copied",
    "seed": "Seed",
    "created": "Made on",
    "seconds_all": "Time taken",
    "parameters": "Parameters",
    "method_parameters": "Parameters of the methods",
    # ---------------------------------------------------------------------------- glossary
    "term_feature": "Feature",
    "gloss_feature": "A column of the table that may help to predict the target.",
    "term_selection": "Selection",
    "gloss_selection": "A subset of the features that is kept to predict with.",
    "term_ranking": "Ranking",
    "gloss_ranking": "All features in order of worth, best first, as one method sees them.",
    "term_judge": "Judge",
    "gloss_judge": "The machine that is trained on the selected features and whose errors count.",
    "term_combination": "Combination",
    "gloss_combination": "A method, a judge and a number of features: all of them compete.",
    "term_smoothed": "Smoothed error",
    "gloss_smoothed": (
        "The mean error of a combination over the splits, in which the next numbers of features "
        "and the other methods count too, so that a single lucky result does not win; it decides "
        "between combinations."
    ),
    "term_split": "Split",
    "gloss_split": (
        "A division of the rows into a training part, which everything is learnt from, and a test "
        "part, on which errors are counted."
    ),
    "term_honest": "Honest error",
    "gloss_honest": (
        "The error on samples that had no part in anything: neither in training nor in choosing "
        "method, judge, features, their number or parameters."
    ),
    "term_apparent": "Apparent error",
    "gloss_apparent": (
        "The error that is found if features are selected on all data first; it looks better than "
        "it is."
    ),
    "term_bias": "Selection bias",
    "gloss_bias": "Honest error less apparent error: how much the naive estimate flatters.",
    "term_interval": "Interval",
    "gloss_interval": (
        "A range that holds the true value in most repetitions, in 95 of 100 at 95%; the wider, "
        "the less is known."
    ),
    "term_stability": "Stability",
    "gloss_stability": "How much the selections from different samples agree.",
    "term_redundancy": "Near-duplicates",
    "gloss_redundancy": (
        "Features that order the rows nearly alike, so that one can stand in for the other."
    ),
    "term_permutation": "Permutation test",
    "gloss_permutation": (
        "The whole procedure is repeated with shuffled labels, to see what chance alone would "
        "reach."
    ),
    "term_pvalue": "p-value",
    "gloss_pvalue": (
        "How often chance alone would give a result at least as extreme; small values speak "
        "against chance."
    ),
    "term_baseline": "Baselines",
    "gloss_baseline": (
        "Features in random order, all features, and no feature at all: what a selection has to "
        "beat."
    ),
    "term_sensitivity": "Sensitivity",
    "gloss_sensitivity": "The proportion of the positive cases that are recognised.",
    "term_specificity": "Specificity",
    "gloss_specificity": "The proportion of the negative cases that are recognised as such.",
    "term_roc": "ROC curve",
    "gloss_roc": (
        "The proportion of positive cases found against that of false alarms, as the threshold "
        "moves."
    ),
    "term_recall": "Precision–recall curve",
    "gloss_recall": (
        "The proportion of right answers among those called positive against that of positive "
        "cases found, as the threshold moves."
    ),
    "term_balanced": "Balanced error",
    "gloss_balanced": (
        "The mean over the classes of the proportion that is wrong: a rare class counts as much as "
        "a large one."
    ),
    "term_rank": "Mean rank",
    "gloss_rank": "The place of a method among the others, averaged over the runs; 1 is best.",
    "term_leak": "Column that gives the target away",
    "gloss_leak": (
        "A column that gives the target without error, often because it was written down after it."
    ),
}
