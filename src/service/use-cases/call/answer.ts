// What a use case answers when it says more than a body: a status, an ETag, a place.

import type { Job } from '../../../core/job.ts'
import type { Json } from '../../../core/json.ts'

export type AnswerHeaders = Readonly<Record<string, string>>

export interface AnswerParts {
  readonly status: number
  readonly body: unknown
  readonly headers?: AnswerHeaders
}

export class Answer implements AnswerParts {
  readonly status: number
  readonly body: Json | undefined
  readonly headers: AnswerHeaders

  constructor(status: number, body: unknown, headers: AnswerHeaders = {}) {
    this.status = status
    this.body = body as Json | undefined
    this.headers = headers
  }

  /** Of something new: where it is found from now on. */
  at(Location: string): Answer {
    return new Answer(this.status, this.body, { ...this.headers, Location })
  }
}

export function etagOf({ revision }: Pick<Job, 'revision'>): string {
  return `"${revision}"`
}

/** A view of something with a revision. */
export function withEtag(of: Pick<Job, 'revision'>, body: unknown, status = 200): Answer {
  return new Answer(status, body, { ETag: etagOf(of) })
}
