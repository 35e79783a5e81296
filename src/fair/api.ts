// `scheduler.fair`: schedules whose tasks enter a queue that users share in turns, direct pushes,
// and the rules of users.

import { FAIR_TASK } from '../core/fairness/fair.ts'
import { refuse } from '../core/errors.ts'
import { Findings } from '../core/findings.ts'
import type { Job } from '../core/job.ts'
import { userOf } from '../core/fairness/lane.ts'
import { limits } from '../core/limits.ts'
import {
  anything,
  checkOptions,
  isFlag,
  isKey,
  isLabel,
  isNullOr,
  isObject,
  isText,
  refuseId,
  refuseOptions,
  type Checks,
} from '../core/spec/option-check.ts'
import { jsonPayload, type PayloadCheck } from '../core/history/payload.ts'
import { lastStartOf } from '../core/schedule/series.ts'
import { specDefaults, type Priority } from '../core/spec.ts'
import type { Json } from '../core/json.ts'
import type { Engine } from '../create-engine.ts'
import type { Page } from '../store/port.ts'
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
  readonly #stored: PayloadCheck

  constructor(
    engine: Engine,
    assertOpen: (verb: string) => void,
    stored: PayloadCheck = async (handler, payload) => jsonPayload(payload, handler),
  ) {
    this.#engine = engine
    this.#assertOpen = assertOpen
    this.#stored = stored
  }

  /** Resolves to its id. A bad expression or zone is refused by name, and nothing is stored. */
  async addSchedule(input: ScheduleInput, option: TenantOption = {}): Promise<string> {
    this.#assertOpen('addSchedule')
    refuseOptions('the schedule is not valid', input, scheduleChecks, scheduleNeeds)
    const { client, ids, clock } = this.#engine
    const id = ids.next(clock.now())
    const payload = await this.#stored(FAIR_TASK, input.payload)
    await schedules.addSchedule(client, { id, ...input, payload }, of(option))
    return id
  }

  /** False when there is none. What is left out stays; cron and zone count from now. */
  async updateSchedule(
    id: string,
    change: ScheduleChange,
    option: TenantOption = {},
  ): Promise<boolean> {
    this.#assertOpen('updateSchedule')
    refuseId('id', id)
    refuseOptions('the schedule is not valid', change, changeChecks)
    const found = await schedules.findSchedule(this.#engine.store, id, of(option).tenant)
    if (!found) return false
    const { payload } = change
    const given =
      payload === undefined
        ? change
        : { ...change, payload: await this.#stored(FAIR_TASK, payload) }
    await schedules.changeSchedule(this.#engine.client, id, given, {})
    return true
  }

  /** True, and false when there is none. Tasks it made before are still done. */
  async removeSchedule(id: string, option: TenantOption = {}): Promise<boolean> {
    this.#assertOpen('removeSchedule')
    refuseId('id', id)
    const found = await schedules.findSchedule(this.#engine.store, id, of(option).tenant)
    if (!found) return false
    const [isRemoved] = await this.#engine.client.remove([id])
    return isRemoved!
  }

  async getSchedule(id: string, option: TenantOption = {}): Promise<FairSchedule | null> {
    refuseId('id', id)
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

  async stats(option: TenantOption = {}): Promise<schedules.ScheduleStats> {
    return schedules.scheduleStats(this.#engine.store, of(option).tenant)
  }

  /** One task for a user, due at once unless told. */
  async push(input: PushInput, option: TenantOption = {}): Promise<Pushed> {
    return pushOne(this.#engine, await this.#withPayload(input), of(option))
  }

  /** Many, each taken or not on its own. */
  async pushMany(inputs: readonly PushInput[], option: TenantOption = {}): Promise<Pushed[]> {
    const found = new Findings()
    if (!Array.isArray(inputs)) found.add('tasks', inputs, 'a list of { userId, … }')
    else
      for (const [i, input] of inputs.entries()) {
        checkOptions(found, input, pushChecks, { field: `tasks.${i}`, required: ['userId'] })
        if (found.problems.length >= PROBLEMS_MAX) break
      }
    refuse('SPEC_INVALID', 'the tasks are not valid', found.problems)
    const given = await Promise.all(inputs.map(input => this.#withPayload(input)))
    return pushMany(this.#engine, given, of(option))
  }

  async #withPayload(input: PushInput): Promise<PushInput> {
    refuseOptions('the task is not valid', input, pushChecks, { required: ['userId'] })
    const { handler = FAIR_TASK, payload } = input
    return { ...input, payload: await this.#stored(handler, payload) }
  }

  /** Turns per round, runs at once, starts per time; what is left out has no rule. */
  async setUser(
    userId: string,
    rule: users.UserInput,
    option: TenantOption = {},
  ): Promise<users.UserRule> {
    refuseOptions('the rule is not valid', rule, ruleChecks)
    return users.setUser(this.#engine, { ...rule, ...of(option), userId })
  }

  async getUser(userId: string, option: TenantOption = {}): Promise<users.UserRule> {
    return users.getUser(this.#engine, of(option).tenant, userId)
  }

  async removeUser(userId: string, option: TenantOption = {}): Promise<boolean> {
    return users.removeUser(this.#engine, { ...of(option), userId })
  }

  health(): FairHealth {
    return healthOf(this.#engine)
  }
}

/** Problems that one error names. */
const PROBLEMS_MAX = 100

const scheduleNeeds = { required: ['cron', 'userId'] }

const scheduleChecks: Checks<ScheduleInput> = {
  cron: isLabel,
  userId: isText,
  priority: anything,
  payload: anything,
  timezone: isLabel,
  queue: isText,
}

const changeChecks: Checks<ScheduleChange> = { ...scheduleChecks, isActive: isFlag }

const pushChecks: Checks<PushInput> = {
  userId: isText,
  payload: anything,
  priority: anything,
  queue: isText,
  handler: isText,
  key: isKey,
  notBefore: anything,
}

const ruleChecks: Checks<users.UserInput> = {
  weight: anything,
  runningMax: anything,
  rate: isNullOr(isObject({ count: anything, perMs: anything })),
}

const tenantChecks = { tenant: isText, userId: isText, isActive: isFlag }

function of(option: TenantOption): { readonly tenant: string } {
  refuseOptions('the options are not valid', option, tenantChecks)
  const { tenant } = option
  return { tenant: tenant ?? specDefaults.tenant }
}

export function scheduleView(job: Job): FairSchedule {
  const { spec, nextAt } = job
  const lastRun = lastStartOf(job)
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
    lastRun: lastRun === null ? null : new Date(lastRun),
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
