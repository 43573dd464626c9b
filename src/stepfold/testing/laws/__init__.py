"""The laws of a run as plain functions: each raises `AssertionError` where it does not hold.

They need no test framework. Give them what you have (a program, a state, a model, a stop
condition), or let `stepfold.testing.strategies` draw it. `every_law_holds` checks a whole run in
a simulated world; the others check one law.
"""

from stepfold.testing.laws._answers import (
    same_prompt,
)
from stepfold.testing.laws._budgets import (
    budgets_hold,
    cost_is_that_of_the_replies,
    cost_keeps_its_limit,
    grants_keep_the_limits,
    tokens_keep_their_limit,
    tool_calls_keep_their_limits,
)
from stepfold.testing.laws._calls import (
    errors_in_a_row_are_bounded,
    policies_are_asked,
    provider_results_are_awaited,
    repairs_count,
    tools_are_found_before_they_run,
    tools_start_at_most_once,
)
from stepfold.testing.laws._conditions import (
    condition_is_monotone,
    condition_is_pure,
    conditions_form_an_algebra,
    progress_of,
)
from stepfold.testing.laws._crashes import (
    interrupted_calls,
    nothing_runs_twice,
    resumed_run_is_the_same,
)
from stepfold.testing.laws._endings import (
    cancel_after_step_waits,
    no_model_is_asked_any_more,
    result_is_the_output,
)
from stepfold.testing.laws._equal import (
    Reader,
    Writer,
)
from stepfold.testing.laws._histories import (
    history_is_repaired_once,
    repair_loses_nothing,
)
from stepfold.testing.laws._models import (
    fold_ignores_chunks,
    generate_is_the_folded_stream,
    middleware_is_a_monoid,
    middleware_is_transparent,
    models_are_equal,
    renaming_is_idempotent,
)
from stepfold.testing.laws._observations import observations_are_the_run
from stepfold.testing.laws._pipelines import (
    failures_skip,
    mapping_fuses,
    pipeline_keeps_its_laws,
    stages_compose,
)
from stepfold.testing.laws._runs import (
    every_law_holds,
    moment_is_lawful,
    nothing_said_is_lost,
    old_events_change_nothing,
    run_is_replayable,
    state_is_lawful,
    trace_is_lawful,
    transition_is_lawful,
)
from stepfold.testing.laws._same_runs import same_history, same_run
from stepfold.testing.laws._steering import words_are_heard_once
from stepfold.testing.laws._steps import (
    Reducer,
    approval_needs_its_digest,
    cancel_keeps_what_is_finished,
    early_answer_changes_nothing,
    end_can_be_sent,
    ends_absorb,
    forgeries,
    history_only_grows,
    never_issued_is_refused,
    pending_is_in_flight,
    prompt_is_paired,
    request_is_paired,
    stale_changes_nothing,
    step_is_deterministic,
    step_is_total,
    tools_run_only_if_permitted,
)
from stepfold.testing.laws._values import value_survives

__all__ = (
    "Reader",
    "Reducer",
    "Writer",
    "approval_needs_its_digest",
    "budgets_hold",
    "cancel_after_step_waits",
    "cancel_keeps_what_is_finished",
    "condition_is_monotone",
    "condition_is_pure",
    "conditions_form_an_algebra",
    "cost_is_that_of_the_replies",
    "cost_keeps_its_limit",
    "early_answer_changes_nothing",
    "end_can_be_sent",
    "ends_absorb",
    "errors_in_a_row_are_bounded",
    "every_law_holds",
    "failures_skip",
    "fold_ignores_chunks",
    "forgeries",
    "generate_is_the_folded_stream",
    "grants_keep_the_limits",
    "history_is_repaired_once",
    "history_only_grows",
    "interrupted_calls",
    "mapping_fuses",
    "middleware_is_a_monoid",
    "middleware_is_transparent",
    "models_are_equal",
    "moment_is_lawful",
    "never_issued_is_refused",
    "no_model_is_asked_any_more",
    "nothing_runs_twice",
    "nothing_said_is_lost",
    "observations_are_the_run",
    "old_events_change_nothing",
    "pending_is_in_flight",
    "pipeline_keeps_its_laws",
    "policies_are_asked",
    "progress_of",
    "prompt_is_paired",
    "provider_results_are_awaited",
    "renaming_is_idempotent",
    "repair_loses_nothing",
    "repairs_count",
    "request_is_paired",
    "result_is_the_output",
    "resumed_run_is_the_same",
    "run_is_replayable",
    "same_history",
    "same_prompt",
    "same_run",
    "stages_compose",
    "stale_changes_nothing",
    "state_is_lawful",
    "step_is_deterministic",
    "step_is_total",
    "tokens_keep_their_limit",
    "tool_calls_keep_their_limits",
    "tools_are_found_before_they_run",
    "tools_run_only_if_permitted",
    "tools_start_at_most_once",
    "trace_is_lawful",
    "transition_is_lawful",
    "value_survives",
    "words_are_heard_once",
)
