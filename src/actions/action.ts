// What every kind of action is made of: its settings, what is wrong with them, what it does.

import type { ZodType } from 'zod'
import type { Problem } from '../core/errors.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Context } from '../engine/context.ts'
import type { Resource } from '../runtime/resource.ts'

/** Settings as they are stored: plain JSON that names its kind. */
export type ActionSettings = JsonObject & { readonly kind: string }

export interface Action<S extends { readonly kind: string } = ActionSettings> {
  readonly kind: S['kind']
  /** False where this node refuses to do it; such a job is then left to others. */
  readonly isAllowed: boolean
  readonly schema: ZodType<S>
  /** What the schema cannot say, or what depends on this node. */
  check(settings: S, field: string, author?: Pick<Author, 'tenant'>): readonly Problem[]
  /** Why this author may not have it done here; absent where every admin may. */
  readonly refusal?: (author: Author) => string | null
  /** Settings as this reader may see them: secrets replaced by MASK. */
  shown(settings: S, reader: Reader): S
  /** What an attempt needs beside a slot, such as a permit of the host it calls. */
  resource?(settings: S, tenant: string): Resource | null
  perform(settings: S, call: ActionCall): Promise<Json>
}

/** For whom settings are shown: queries and bodies of requests only concern those who may edit. */
export interface Reader {
  readonly mayEdit: boolean
}

/** Who made a job do this: known when it is made, and again at every run. */
export interface Author {
  /** Of the job. */
  readonly tenant: string
  /** An admin of every tenant. */
  readonly isOfEveryTenant: boolean
}

export interface ActionCall {
  readonly context: Context
  readonly payload: Json
}

/** Stands for a secret wherever settings are shown; sent back, it means the stored one. */
export const MASK = '***'
