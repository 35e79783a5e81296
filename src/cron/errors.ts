// The one error of the cron module: what was wrong, where, and what to write instead.

export type CronErrorCode = 'CRON_INVALID' | 'ZONE_INVALID'

/** Long enough for every minute listed one by one, short enough to be harmless input. */
export const MAX_EXPRESSION_LENGTH = 256

export interface CronFault {
  code?: CronErrorCode
  expression: string
  /** Null when the fault is not in one field. */
  field?: string | null
  reason: string
  /** 1-based position in the expression as given. */
  column?: number | null
  hint?: string | null
}

/** Thrown by parseCron; the message is complete on its own, the properties are for tools. */
export class CronError extends Error {
  override readonly name = 'CronError'
  readonly code: CronErrorCode
  readonly expression: string
  readonly field: string | null
  readonly reason: string
  readonly column: number | null
  readonly hint: string | null

  constructor(fault: CronFault) {
    const expression = shorten(fault.expression)
    const where = fault.field == null ? '' : `${fault.field}: `
    const at = fault.column == null ? '' : ` (column ${fault.column})`
    const hint = fault.hint == null ? '' : `; ${fault.hint}`
    super(`Invalid cron ${JSON.stringify(expression)}: ${where}${fault.reason}${at}${hint}`)
    this.code = fault.code ?? 'CRON_INVALID'
    this.expression = expression
    this.field = fault.field ?? null
    this.reason = fault.reason
    this.column = fault.column ?? null
    this.hint = fault.hint ?? null
  }
}

/** Quotes a piece of input for a message without letting it grow. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}

// A refused megabyte must not travel on in logs and responses.
function shorten(text: string): string {
  return text.length > MAX_EXPRESSION_LENGTH ? `${text.slice(0, MAX_EXPRESSION_LENGTH)}…` : text
}
