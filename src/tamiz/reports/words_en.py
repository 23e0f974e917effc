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
    "keys": "Chart. Arrow keys read out its values.",
    "section_summary": "Summary",
    "section_data": "The data",
    "section_ranking": "Ranking of all features",
    "section_features": "The selected features",
    "section_curves": "Error by number of features",
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
    "metric_1 − balanced_accuracy": "Balanced error",
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
    "sample_classes": "So each class has about its share in the sample, not exactly.",
    "tile_error": "Error to expect on new data",
    "tile_interval": "{level} interval: {between}",
    "tile_features": "Features recommended",
    "tile_of": "of {n}",
    "tile_promised": "a naive estimate would promise {error}",
    "tile_ranked": "Features ranked",
    "tile_tuned": "Cross-validated error",
    "tile_cells": "the chosen one of {n} combinations",
    "agreement_poor": "poor agreement",
    "agreement_fair": "fair agreement",
    "agreement_good": "good agreement",
    "signal_yes": "more than chance",
    "signal_no": "no more than chance",
    "advice": "Recommended: these {n}, best first, in the order of {method}.",
    "advice_one": "Recommended: {n}, the first in the order of {method}.",
    "advice_ranking": "The method {method} selects {n}, best first:",
    "more_names": "{n} more",
    "expect_share": (
        "On new data of the same kind expect an error of about {error}[[, {one_in}]]. [[The "
        "{level} interval goes from {between}. ]]It was measured with the judge {judge} on "
        "samples that had no part in selecting the features.[[ The method was chosen among "
        "{n_methods} by these same errors, which makes them a little too good.]]"
    ),
    "expect_number": (
        "On new data of the same kind expect an error ({metric}) of about {error}. [[The {level} "
        "interval goes from {between}. ]]It was measured with the judge {judge} on samples that "
        "had no part in selecting the features.[[ The method was chosen among {n_methods} by "
        "these same errors, which makes them a little too good.]]"
    ),
    "one_in": "about one case in {n}",
    "no_error_seen": (
        "No error was seen, but that is no promise of none: with {rows} samples, an error of up "
        "to about {bound} would go unseen too often to be ruled out at {level}."
    ),
    "majority_beaten": (
        "Always naming the largest class would err {error}; the whole interval is below that."
    ),
    "majority_not_beaten": (
        "Always naming the largest class would err {error}; the interval reaches that far, so a "
        "real advantage is not certain."
    ),
    "promised_less": (
        "Had the features been selected on all data before the error was measured, the same "
        "method would have promised {apparent}: {bias} too good. This difference is the "
        "selection bias."
    ),
    "promised_more": (
        "Had the features been selected on all data before the error was measured, the same "
        "method would have promised {apparent}, {bias} more than the honest error: there is no "
        "sign of selection bias here."
    ),
    "promised_same": (
        "Had the features been selected on all data before the error was measured, the same "
        "method would have promised {apparent}, which is the same: no selection bias here."
    ),
    "shuffled_signal": (
        "There is signal: with the labels shuffled, {n} of {all} attempts did as well ({p})."
    ),
    "shuffled_no_signal": (
        "There is no clear signal: with the labels shuffled, {n} of {all} attempts did as well "
        "({p})."
    ),
    "repeatable_poor": (
        "Another sample would probably give quite different features (stability {index}, 1 is "
        "perfect): others may do as well as these."
    ),
    "repeatable_fair": (
        "Another sample would give partly the same features (stability {index}, 1 is perfect)."
    ),
    "repeatable_good": (
        "Another sample would give nearly the same features (stability {index}, 1 is perfect)."
    ),
    "no_comparison": (
        "Features were ranked, but no error was measured: how well they predict is not known "
        "from this report."
    ),
    "only_tuned": (
        "Parameters were chosen, features were not. The error of the chosen combination is the one "
        "that looked best among many, and so a little too good: to state what the machine will do "
        "on new data, keep samples apart that took no part in choosing."
    ),
    "cut_short": (
        "The comparison was cut short: {done} of its {all} parts were done, and all means are over "
        "those."
    ),
    "why": "Why these",
    "reason_least_error": "{method} has the least honest error of all methods: {error}.",
    "reason_fewest_within_interval": (
        "{method} needs few features ({size})[[, and its error, {error}, cannot be told from the "
        "least one, {best_error} of {best_method}]][[ with {best_size}]]."
    ),
    "reason_steadier": (
        "The selections of {method} agree more from split to split than those of {best_method}, "
        "and its error, {error}, cannot be told from the least one, {best_error}."
    ),
    "reason_stable": "The selection is stable[[: index {nogueira}]].",
    "reason_fairly_stable": "The selection is fairly stable[[: index {nogueira}]].",
    "reason_fragile": (
        "The selection is fragile[[: index {nogueira}]]. Do not read much into single features."
    ),
    "reason_all_features_better": (
        "With all features the error is clearly smaller, {error}: use these only if fewer "
        "features are worth that."
    ),
    "reason_not_worse_than_all": "It errs no more than all features together, {error}.",
    "reason_near_all": "With all features the error is {error}, within the interval.",
    "reason_not_better_than_all": "It is not better than all features together, {error}.",
    "reason_no_better_than_random": (
        "Features in random order do about as well, {error}: the number of features matters more "
        "than which they are."
    ),
    "reason_no_signal": (
        "The interval reaches the error of always naming the largest class[[, "
        "{majority_error}]]: the data may hold no signal."
    ),
    "reason_selection_bias": (
        "Ranking on all data would have promised {apparent}: the difference is {bias}."
    ),
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
        "The classes are far from balanced: “{name}” has {share} of the rows. Look at "
        "sensitivity and balanced accuracy rather than at the error."
    ),
    "warn_wide": (
        "There are many more features ({features}) than rows ({rows}): some will look good by "
        "chance alone, and selection bias is large."
    ),
    "classes_title": "Rows in each class",
    "classes_finding": "The largest class is “{name}” with {share} of the rows.",
    "gaps_title": "Columns with missing values",
    "gaps_finding": "{n} with gaps, most of all “{name}”, which misses {share} of its values.",
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
        "upright line, or bars with the share of the class that has a value. The further apart "
        "the classes, the more the feature tells on its own; some features only tell together "
        "with others."
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
        "Solid: honest error, with the features ranked inside the training part of each split, "
        "and its interval as a band. Dashed: apparent error, with the features ranked on all "
        "data, samples to be tested included."
    ),
    "curves_title": "{metric} by number of features, judge {judge}",
    "curves_finding": (
        "{method} goes from {first} with {first_size} to its least error of {error} with {size} "
        "features."
    ),
    "curves_gap": "The apparent error is up to {gap} too good.",
    "curves_caption": "Honest error by number of features, judge {judge}",
    "as_table_judge": "The numbers as a table ({judge})",
    "judge_is": "Judge {judge}",
    "recommended_size": "recommended",
    "bias_intro": (
        "The filled mark is the honest error with its interval, the hollow one what the same "
        "method seems to achieve when its features are selected on all data first. The gap "
        "between them is the selection bias."
    ),
    "bias_title": "Apparent and honest error of each method",
    "bias_finding": (
        "The gap is widest for {method}: it seems to err {apparent} and honestly errs {error}, a "
        "selection bias of {bias}."
    ),
    "bias_none": "No method looks better when its features are selected on all data first.",
    "majority_mark": "largest class",
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
        "Each split selects from slightly different samples. The index of Nogueira is 1 if all "
        "selections are the same and about 0 if they are no more alike than random ones."
    ),
    "stability_title": "Stability of each method",
    "stability_finding": (
        "{method} has an index of {index}: {words}. The most stable method is {best} with "
        "{best_index}."
    ),
    "stability_undefined": "The index is not defined for these selections.",
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
    # -------------------------------------------------------------------------------- card
    "card_intro": (
        "Every sample was predicted once by a machine that had not seen it, selection included."
    ),
    "positive_class": "The positive class is “{name}”.",
    "confusion_caption": "Confusion matrix: rows are the true classes, shares are of the row",
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
    "means_sensitivity": "share of the positive cases that are found",
    "means_specificity": "share of the negative cases that are left alone",
    "means_precision": "share of those called positive that are",
    "means_accuracy": "share of right answers",
    "means_balanced_accuracy": "mean share found over the classes",
    "means_f1": "harmonic mean of precision and sensitivity",
    "means_macro_f1": "mean of F1 over the classes",
    "means_mcc": "−1 all wrong, 0 chance, 1 all right",
    "means_roc_area": "chance that a positive case scores above a negative one",
    "means_macro_precision": "mean of the precision over the classes",
    "roc_title": "ROC curve",
    "roc_finding": "The area under the curve is {area}; 0.5 would be chance, 1 perfect.",
    "roc_finding_plain": "The further above the diagonal, the better.",
    "true_positives": "Found among the positive",
    "false_positives": "False alarms among the negative",
    "at_false_positives": "with {share} false alarms",
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
    "term_split": "Split",
    "gloss_split": (
        "A division of the rows into a training part, which everything is learnt from, and a "
        "test part, on which errors are counted."
    ),
    "term_honest": "Honest error",
    "gloss_honest": (
        "The error on samples that had no part in anything: neither in training nor in selecting "
        "features nor in choosing their number."
    ),
    "term_apparent": "Apparent error",
    "gloss_apparent": (
        "The error that is found if features are selected on all data first; it looks better "
        "than it is."
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
    "gloss_baseline": "Features in random order, and all features: what a selection has to beat.",
    "term_sensitivity": "Sensitivity",
    "gloss_sensitivity": "The share of the positive cases that are recognised.",
    "term_specificity": "Specificity",
    "gloss_specificity": "The share of the negative cases that are recognised as such.",
    "term_roc": "ROC curve",
    "gloss_roc": (
        "The share of positive cases found against the share of false alarms, as the threshold "
        "moves."
    ),
    "term_rank": "Mean rank",
    "gloss_rank": "The place of a method among the others, averaged over the runs; 1 is best.",
    "term_leak": "Column that gives the target away",
    "gloss_leak": (
        "A column that tells the target without error, often because it was written down after it."
    ),
}
