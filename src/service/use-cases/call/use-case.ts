// A use case: what a person or a program can do. It says who may, what it takes and what it answers;
// HTTP routes and commands on a local store call it alike.

import type { z } from 'zod'
import type { Problem } from '../../../core/errors.ts'
import type { Access } from '../../auth/principal.ts'
import { Answer } from './answer.ts'
import type { Call, Services } from './call.ts'
import { withCheck } from './input.ts'
import { onceKept } from './idempotency.ts'
import type { Family } from './refusal.ts'
import { assertMatchGiven } from './revision.ts'

type Given = Readonly<Record<string, unknown>>

export interface UseCase<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
> {
  readonly access: Access
  /** How refusals read; `native` unless it is one of the originals'. */
  readonly family?: Family
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** Rules between the fields of the body, reported together with what is wrong inside of them. */
  readonly check?: (body: Given, services: Services) => readonly Problem[]
  /** The body is described by its schema and checked by the use case itself. */
  readonly checksBody?: true
  /** Larger bodies than other use cases have. */
  readonly accepts?: { readonly bytes: number; readonly keys: number }
  /** The body as it is checked; by default as it was sent. */
  readonly prepare?: (call: Call<z.output<P>>) => Promise<unknown>
  /** 200 unless it says another. */
  readonly status?: number
  readonly result?: R
  /** Statuses beside `status`, with the same result. */
  readonly otherStatuses?: readonly number[]
  /** Where the settings ask for it, callers say which revision they mean. */
  readonly matches?: true
  /** What is no change of a job: an idempotency key is taken first, and the answer kept under it. */
  readonly keeps?: true
  readonly handle: (
    call: Call<z.output<P>, z.output<Q>, z.output<B>>,
  ) => Promise<Answer | z.input<R>>
}

export type AnyUseCase = UseCase<z.ZodType, z.ZodType, z.ZodType, z.ZodType>

/** Types `handle` by the schemas beside it. */
export function useCase<
  P extends z.ZodType = z.ZodUnknown,
  Q extends z.ZodType = z.ZodUnknown,
  B extends z.ZodType = z.ZodUnknown,
  R extends z.ZodType = z.ZodUndefined,
>(given: UseCase<P, Q, B, R>): AnyUseCase {
  return given
}

/** Of a call whose parts have been checked by the schemas. */
export async function perform(one: AnyUseCase, call: Call): Promise<Answer> {
  if (one.matches) assertMatchGiven(call)
  const handle = async () => answered(one, await one.handle(call))
  return one.keeps ? onceKept(call, handle) : handle()
}

function answered({ status = 200 }: AnyUseCase, result: unknown): Answer {
  return result instanceof Answer ? result : new Answer(status, result)
}

/** The schema of the body with the rules between its fields. */
export function checkedBody(
  { body, check }: AnyUseCase,
  services: Services,
): z.ZodType | undefined {
  return body && check ? withCheck(body, given => check(given, services)) : body
}
