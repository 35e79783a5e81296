// What queries read of a job. A row holds what is searched,
// counted or fenced by; everything else is in its `body`.

/** What a row of `moments` is about. */
export const TIMED = 0
export const READY = 1
export const PAUSE_END = 2
export const JOB_END = 3
export const TASK_END = 4

/** Values come as the server writes them. */
export type Cell = string | null
export type Row = Cell[]

/** A job, and behind it the parts that running it never changes. */
export const jobColumns = `j.seq, j.spec_at, j.state, j.due_at, j.until_at, j.expire_at, j.attempts,
  j.fence, j.version, j.body, j.token, j.owner, j.attempt_id, j.claimed_at`
export const coldColumns = 'x.spec, x.declared, x.created_at, j.id, j.series, j.kind'
export const JOB_WIDTH = 14

export type JobRow = [
  seq: string,
  specAt: string,
  state: string,
  dueAt: Cell,
  untilAt: Cell,
  expireAt: Cell,
  attempts: string,
  fence: string,
  version: string,
  body: string,
  token: Cell,
  owner: Cell,
  attemptId: Cell,
  claimedAt: Cell,
]

export type ColdRow = [
  /** Null for a job that lost it. */
  spec: Cell,
  declared: Cell,
  createdAt: Cell,
  id: string,
  series: Cell,
  kind: string,
]

export function numberOrNull(cell: Cell | undefined): number | null {
  return cell === null || cell === undefined ? null : Number(cell)
}
