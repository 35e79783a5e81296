// How a job of the demo is put together: its spec with its temper, marked as such.

import { isActionName } from '../core/spec/action-name.ts'
import { crawlSettings } from '../actions/crawl/settings.ts'
import { httpSettings } from '../actions/http/settings.ts'
import type { NewJob } from '../core/job.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { completeSpec, type SpecInput } from '../core/spec.ts'
import { DAY, type Millis } from '../core/time.ts'
import type { Trigger } from '../core/schedule/trigger.ts'
import { tempered, type Temper } from './temper.ts'

export interface DemoJob extends NewJob {
  /** How long ago it was made. */
  readonly age: Millis
  readonly pause?: { readonly note: string; readonly forMs: Millis | null }
}

const DAYS = 2.5 * DAY

export function cron(expression: string, zone: string): Trigger {
  return { kind: 'cron', expression, zone, dialect: 'extended', dst: null }
}

export function every(everyMs: Millis, from: 'schedule' | 'finish' = 'schedule'): Trigger {
  return { kind: 'interval', everyMs, from, anchor: null }
}

export function calling(url: string, payload: Json): Json {
  return { action: httpSettings.parse({ kind: 'http', url }) as Json, payload }
}

export function crawling(url: string): Json {
  return { action: crawlSettings.parse({ kind: 'crawl', url }) as Json, payload: null }
}

interface Written {
  readonly id: string
  readonly spec: SpecInput
  readonly temper: Temper
  readonly more?: Partial<DemoJob>
}

export function made({ id, spec, temper, more = {} }: Written): DemoJob {
  const metadata: JsonObject = { ...spec.metadata, ...tempered(temper) }
  const handler = handlerOf(spec.handler)
  const tags = [...(spec.tags ?? []), 'demo']
  return {
    id: `demo-${id}`,
    age: DAYS,
    spec: completeSpec({ ...spec, handler, isAction: isActionName(handler), tags, metadata }),
    ...more,
  }
}

/** No program's own handler is ever named like one of the demo. */
export function handlerOf(name: string): string {
  return isActionName(name) ? name : `demo.${name}`
}
