// `scheduler.fair`: schedules whose tasks enter a queue that users share in turns, direct pushes,
// and the rules of users.

import type { Job } from '../core/job.ts'
import { userOf } from '../core/lane.ts'
import { limits } from '../core/limits.ts'
import { specDefaults, type Priority } from '../core/spec.ts'
import type { Json } from '../core/json.ts'
import type { Engine } from '../engine/engine.ts'
import type { Page } from '../store/store.ts'
import { healthOf, type FairHealth } from './health.ts'
import * as schedules from './schedules.ts'
import type { PushInput, ScheduleChange, ScheduleInput } from './spec.ts'
import { pushMany, pushOne, type Pushed } from './tasks.ts'
import * as users from './users.ts'

export interface FairSchedule {
  readonly id: string
  readonly cron: string
  readonly timezone: string
  readonly userId: string
  readonly priority: Priority
  readonly payload: Json
  readonly isActive: boolean
  readonly lastRun: Date | null
  readonly nextRun: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
  /** Why it is not active. */
  readonly reason: string | null
}

export interface TenantOption {
  /** Whose it is. Default `default`. */
  readonly tenant?: string
}

export class FairApi {
  readonly #engine: Engine
  readonly #assertOpen: (verb: string) => void

  constructor(engine: Engine, assertOpen: (verb: string) => void) {
    this.#engine = engine
    this.#assertOpen = assertOpen
  }

  /** Resolves to its id. A bad expression or zone is refused by name, and nothing is stored. */
  async addSchedule(input: ScheduleInput, option: TenantOption = {}): Promise<string> {
    this.#assertOpen('addSchedule')
    const { client, ids, clock } = this.#engine
    const id = ids.next(clock.now())
    await schedules.addSchedule(client, { id, ...input }, of(option))
    return id
  }

  /** False when there is none. What is left out stays; cron and zone count from now. */
  async updateSchedule(
    id: string,
    change: ScheduleChange,
    option: TenantOption = {},
  ): Promise<boolean> {
    this.#assertOpen('updateSchedule')
    const found = await schedules.findSchedule(this.#engine.store, id, of(option).tenant)
    if (!found) return false
    await schedules.changeSchedule(this.#engine.client, id, change, {})
    return true
  }

  /** True, and false when there is none. Tasks it made before are still done. */
  async removeSchedule(id: string, option: TenantOption = {}): Promise<boolean> {
    this.#assertOpen('removeSchedule')
    const found = await schedules.findSchedule(this.#engine.store, id, of(option).tenant)
    if (!found) return false
    const [isRemoved] = await this.#engine.client.remove([id])
    return isRemoved!
  }

  async getSchedule(id: string, option: TenantOption = {}): Promise<FairSchedule | null> {
    const found = await schedules.findSchedule(this.#engine.store, id, of(option).tenant)
    return found ? scheduleView(found) : null
  }

  /** All of them, a page at a time behind the scenes. */
  async *listSchedules(
    filter: { readonly userId?: string; readonly isActive?: boolean } & TenantOption = {},
  ): AsyncGenerator<FairSchedule, void, void> {
    const { tenant } = of(filter)
    let cursor: string | null = null
    do {
      const page: Page<Job> = await schedules.listSchedules(
        this.#engine.store,
        { ...filter, tenant },
        { limit: limits.pageMax, cursor },
      )
      for (const job of page.items) yield scheduleView(job)
      cursor = page.cursor
    } while (cursor !== null)
  }

  stats(option: TenantOption = {}): Promise<schedules.ScheduleStats> {
    return schedules.scheduleStats(this.#engine.store, of(option).tenant)
  }

  /** One task for a user, due at once unless told. */
  push(input: PushInput, option: TenantOption = {}): Promise<Pushed> {
    return pushOne(this.#engine, input, of(option))
  }

  /** Many, each taken or not on its own. */
  pushMany(inputs: readonly PushInput[], option: TenantOption = {}): Promise<Pushed[]> {
    return pushMany(this.#engine, inputs, of(option))
  }

  /** Turns per round, runs at once, starts per time; what is left out has no rule. */
  setUser(userId: string, rule: users.UserInput, option: TenantOption = {}) {
    return users.setUser(this.#engine, { ...rule, ...of(option), userId })
  }

  getUser(userId: string, option: TenantOption = {}): Promise<users.UserRule> {
    return users.getUser(this.#engine, of(option).tenant, userId)
  }

  removeUser(userId: string, option: TenantOption = {}): Promise<boolean> {
    return users.removeUser(this.#engine, { ...of(option), userId })
  }

  health(): FairHealth {
    return healthOf(this.#engine)
  }
}

function of({ tenant }: TenantOption): { readonly tenant: string } {
  return { tenant: tenant ?? specDefaults.tenant }
}

export function scheduleView(job: Job): FairSchedule {
  const { spec, last, nextAt } = job
  const { trigger, tenant, lane, priority, payload } = spec
  const isActive = schedules.isActiveSchedule(job)
  return {
    id: job.id,
    cron: trigger.kind === 'cron' ? trigger.expression : '',
    timezone: trigger.kind === 'cron' ? trigger.zone : 'UTC',
    userId: userOf(tenant, lane) ?? '',
    priority,
    payload,
    isActive,
    lastRun: last === null ? null : new Date(last.startedAt),
    nextRun: isActive && nextAt !== null ? new Date(nextAt) : null,
    createdAt: new Date(job.createdAt),
    updatedAt: new Date(job.updatedAt),
    reason: isActive ? null : reasonOf(job),
  }
}

function reasonOf({ pause, ended, lastError }: Job): string {
  if (ended === null) return pause?.note ?? 'paused'
  return ended.reason === 'invalid' && lastError ? lastError.message : ended.reason
}
