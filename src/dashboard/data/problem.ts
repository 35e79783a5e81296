// A refusal of the service as the dashboard shows it: RFC 9457, or what is closest to it.

export interface FieldProblem {
  readonly field: string
  readonly value: unknown
  readonly rule: string
  /** The name of the field is refused, not what it holds. */
  readonly is_name?: true
}

interface Wire {
  readonly type?: unknown
  readonly title?: unknown
  readonly detail?: unknown
  readonly request_id?: unknown
  readonly errors?: unknown
}

export class ApiProblem extends Error {
  readonly status: number
  readonly type: string
  readonly title: string
  readonly requestId: string | null
  readonly errors: readonly FieldProblem[]
  readonly more: Readonly<Record<string, unknown>>

  constructor(status: number, wire: Wire) {
    const title = text(wire.title) ?? (status === 0 ? 'The service cannot be reached' : 'Refused')
    super(text(wire.detail) ?? title)
    this.name = 'ApiProblem'
    this.status = status
    this.type = text(wire.type) ?? ''
    this.title = title
    this.requestId = text(wire.request_id)
    this.errors = Array.isArray(wire.errors) ? (wire.errors as FieldProblem[]) : []
    this.more = wire as Readonly<Record<string, unknown>>
  }

  get slug(): string {
    return this.type.replace('/problems/', '')
  }
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** Nothing came back: the service is away, or the network is. */
export function unreachable(): ApiProblem {
  return new ApiProblem(0, { detail: 'No answer. Is the service running, and the network up?' })
}

export function problemFrom(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error
  const detail = error instanceof Error ? error.message : String(error)
  return new ApiProblem(-1, { title: 'Something went wrong in this page', detail })
}
