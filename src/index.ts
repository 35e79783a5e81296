// The public API of the package: re-exports only.

import './node-version.ts'

export { createScheduler, type SchedulerOptions } from './library/create.ts'
export {
  createTaskScheduler,
  type TaskScheduler,
  type TaskSchedulerOptions,
} from './declared/scheduler.ts'
export type { Registration, TaskCallback } from './declared/registration.ts'
export type { RunContext } from './library/context.ts'
export { job, type JobDefinition } from './library/definition.ts'
export type { EventFilter, SchedulerEvent } from './library/events.ts'
export type { PauseOptions, RunHandle, ScheduleHandle } from './library/handles.ts'
export type { BulkResult, CreateJob, EditJob, JobsApi, Selector } from './library/jobs-api.ts'
export { isolated, type ModuleHandler } from './library/isolated.ts'
export type { IsolateKind, IsolateOptions } from './actions/isolate/options.ts'
export type { JobOptions, ScheduleEntry } from './library/options.ts'
export { schedule, stopSchedules, type ScheduleCallOptions } from './library/one-liner.ts'
export type { Policies, RetryOptions } from './library/policies.ts'
export type { QueuesApi } from './library/queues-api.ts'
export type { RunsApi } from './library/runs-api.ts'
export type { AnyJob, Scheduler, ScheduleOptions } from './library/scheduler.ts'
export type { TriggerEntry, TriggerManyOptions, TriggerOptions } from './library/tasks.ts'
export type { Duration, Moment } from './library/time-input.ts'
export type { Trial, TrialOptions } from './library/trial.ts'
export {
  at,
  cron,
  daily,
  every,
  type Bounds,
  type Occurrence,
  type Weekday,
  type When,
} from './library/when.ts'
export type {
  RunWorkflow,
  ScheduleWorkflow,
  TenantOption,
  WorkflowsApi,
} from './library/workflows-api.ts'
export type { SourcesApi } from './library/sources-api.ts'
export type { LibraryOptions as SourceOptions } from './sources/open.ts'
export type { SourceChanges, SourceInput } from './sources/shape.ts'
export type { RateLimit, Source } from './sources/source.ts'
export type { RunDetail, StepDetail, StepStatus } from './workflows/detail.ts'
export type { WorkflowOptions } from './workflows/open.ts'
export type { HttpInput, StepInput, WorkflowInput } from './workflows/shape.ts'
export type { Entry, Step, Workflow } from './workflows/workflow.ts'
export { errorCodes, SchedulerError, type ErrorCode, type Problem } from './core/errors.ts'
export type { Attempt, Outcome } from './core/attempt.ts'
export type { Job } from './core/job.ts'
export type { JobSpec } from './core/spec.ts'
export type { LedgerEntry } from './core/history/ledger.ts'
export type { Run } from './core/history/run.ts'
export { statusOf, type Status } from './core/control/status.ts'
export type { Explanation } from './core/control/why.ts'
export { Aborted } from './engine/active-attempt.ts'
export { Defer, EndJob, LimitExceeded, NoRetry, RetryAfter, Skip } from './core/run/outcome.ts'
export type { Clock } from './runtime/clock.ts'
export type { Store } from './store/port.ts'
export type { Logger } from './compose.ts'
