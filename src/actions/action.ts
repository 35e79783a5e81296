// What every kind of action is made of: its settings, what is wrong with them, what it does.

import type { ZodType } from 'zod'
import type { Problem } from '../core/errors.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Context } from '../engine/context.ts'

/** Settings as they are stored: plain JSON that names its kind. */
export type ActionSettings = JsonObject & { readonly kind: string }

export interface Action<S extends { readonly kind: string } = ActionSettings> {
  readonly kind: S['kind']
  /** False where this node refuses to do it; such a job is then left to others. */
  readonly isAllowed: boolean
  readonly schema: ZodType<S>
  /** What the schema cannot say, or what depends on this node. */
  check(settings: S, field: string): readonly Problem[]
  /** Settings as this reader may see them: secrets replaced by MASK. */
  shown(settings: S, reader: Reader): S
  perform(settings: S, call: ActionCall): Promise<Json>
}

/** For whom settings are shown: queries and bodies of requests only concern those who may edit. */
export interface Reader {
  readonly mayEdit: boolean
}

export interface ActionCall {
  readonly context: Context
  readonly payload: Json
}

/** Stands for a secret wherever settings are shown; sent back, it means the stored one. */
export const MASK = '***'
