// Every bound of the model in one place; each refusal names the limit it enforces.

import { DAY, HOUR, SECOND } from './time.ts'

export const limits = {
  nameLength: 200,
  idLength: 400,
  noteLength: 1_000,
  payloadBytes: 64 * 1024,
  /** Payloads a job keeps beside its present one, for the runs that got them. */
  payloadsKept: 20,
  payloadsKeptBytes: 256 * 1024,
  resultBytes: 64 * 1024,
  checkpointBytes: 64 * 1024,
  /** Names of measures of one attempt. */
  measuresMax: 1_000,
  metadataBytes: 16 * 1024,
  tags: 50,
  everyMsMin: 1,
  everyMsMax: 366 * DAY,
  timeoutMsMax: 7 * DAY,
  delayMsMax: 366 * DAY,
  /** How soon a run is tried again that was deferred to a time that has passed. */
  deferralMsMin: 1_000,
  retryMax: 1_000_000,
  runLimitMax: 1_000_000_000,
  requestsMax: 100,
  backfillMax: 10_000,
  catchUpMax: 1_000,
  queueOverlapMax: 100,
  priorityMin: 1,
  priorityMax: 6,
  pageMax: 250,
  /** Rows one call looks at for those that fit, where no index leads to them. */
  scannedMax: 5_000,
  /** Rows a page may leave out, and rows looked at to count or to skip them. */
  offsetMax: 100_000,
  /** Parts of a window that are counted in one call. */
  partsMax: 50_000,
  /** Jobs in one step that is written as a whole. */
  bundleMax: 20_000,
  /** Crashes in a row that make a job a suspect: no two of them run at once on a node. */
  suspectCrashes: 2,
  /** Crashes in a row before a job is set aside for a cool-down. */
  crashesMax: 5,
  /** Crashes in a row that end a one-off, or a run asked for by hand. */
  oneOffCrashesMax: 10,
  /** How long the next start waits for the handler of an attempt that was ended. */
  holdMs: 30 * SECOND,
  retainedAttemptsMax: 100_000,
  retainedMsMax: 3_660 * DAY,
  logLinesPerAttempt: 1_000,
  /** Of a log that is longer, so many first and last lines are kept, and one line between them. */
  logHeadLines: 500,
  logTailLines: 499,
  /** Characters of each of these two parts. */
  logHalfBytes: 512 * 1024,
  logFieldsBytes: 16 * 1024,
  logMessageLength: 4_096,
} as const

/** Inside a lane one step of priority is worth this much waiting, so nothing starves. */
export const AGE_MS = 10 * 60 * SECOND

export const ENDED_TASK_KEPT_MS = 24 * HOUR
export const ENDED_JOB_KEPT_MS = 30 * DAY
