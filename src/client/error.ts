// What a caller catches: a refusal of the service with everything it said, or no answer at all.

/** One thing that is wrong with a request. */
export interface ProblemEntry {
  readonly field: string
  readonly value: unknown
  readonly rule: string
}

/** The service refused: `type` names why, `problems` every field it concerns. */
export class CarillonError extends Error {
  readonly status: number
  /** Such as `not-found`: the last part of the problem's address. */
  readonly type: string
  readonly problems: readonly ProblemEntry[]
  /** What the service logged it under. */
  readonly requestId: string | null
  readonly retryAfterMs: number | null
  /** The whole problem, as it was sent. */
  readonly body: Readonly<Record<string, unknown>>

  constructor(
    status: number,
    body: Readonly<Record<string, unknown>>,
    headers: Pick<Headers, 'get'>,
  ) {
    super(textOf(body['detail']) ?? textOf(body['title']) ?? `the service answered ${status}`)
    this.name = 'CarillonError'
    this.status = status
    this.type = textOf(body['type'])?.split('/').at(-1) ?? 'unknown'
    this.problems = Array.isArray(body['errors']) ? (body['errors'] as ProblemEntry[]) : []
    this.requestId = textOf(body['request_id']) ?? headers.get('x-request-id')
    const seconds = Number(headers.get('retry-after') ?? Number.NaN)
    this.retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : null
    this.body = body
  }
}

/** Nobody answered, or not with what this client understands. `cause` has more. */
export class UnreachableError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'UnreachableError'
  }
}

/** No answer within the time that was given. */
export class TimeoutError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'TimeoutError'
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
