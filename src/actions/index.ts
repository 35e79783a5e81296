// Everything a node needs to do what jobs say without code of their own; called where parts are
// chosen.

import process from 'node:process'
import { refuse } from '../core/errors.ts'
import type { Millis } from '../core/time.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Handler } from '../engine/handlers.ts'
import type { CommandAccount } from './command/account.ts'
import { commandAction, passedByDefault } from './command/action.ts'
import { crawlAction } from './crawl/action.ts'
import { HostPace } from './crawl/pace.ts'
import type { PageSink } from './crawl/pages.ts'
import { AllowList } from './guard/allow.ts'
import type { Resolve } from './guard/connect.ts'
import type { AddressRefused } from './guard/errors.ts'
import { Outbound, type OutboundLimits } from './guard/outbound.ts'
import { httpAction } from './http/action.ts'
import { Registry } from './registry.ts'
import { secretsFrom } from './secrets.ts'

export { MASK, type Action, type ActionCall, type ActionSettings } from './action.ts'
export { fromCrontab } from './command/settings.ts'
export type { Found, FoundPages, Page, PageQuery, PageSink } from './crawl/pages.ts'
export { SqlitePages, type PagesDatabase } from './crawl/sqlite-pages.ts'
export { OutboundError } from './guard/errors.ts'
export type { Outbound, OutboundAnswer, OutboundRequest } from './guard/outbound.ts'
export { Registry, type Checked } from './registry.ts'

export interface ActionOptions {
  readonly clock: Clock
  /** Internal hosts that jobs may reach: CARILLON_ALLOW_HOSTS, or its entries. */
  readonly allowHosts?: string | readonly string[]
  /** Name servers to ask for hosts, or `system`; by default those of the system. */
  readonly dns?: readonly string[]
  /** True for those of admins of every tenant; a list adds those of the tenants in it. */
  readonly allowCommands?: boolean | readonly string[]
  /** The account commands run under; without it they have that of the service. */
  readonly commandAccount?: CommandAccount | null
  /** Where crawled pages go; without it this node leaves crawls to others. */
  readonly pages?: PageSink | null
  /** The node's variables: secrets, and for commands those in `passEnv` and the harmless ones. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly passEnv?: readonly string[]
  /** Between asking a command to end and ending it; the engine's abortGraceMs should be longer. */
  readonly commandGraceMs?: Millis
  readonly limits?: Partial<OutboundLimits>
  readonly userAgent?: string
  readonly resolve?: Resolve
  /** Told when a name turned out to be at an internal address: for the operator's log. */
  readonly onRefused?: (refused: AddressRefused) => void
}

export interface Actions {
  /** Checks and stores settings; other parts add kinds of their own. */
  readonly registry: Registry
  /** By handler name, such as `action:http`, for `engine.handlers`. */
  readonly handlers: ReadonlyMap<string, Handler>
  /** The one way out, for whatever else sends requests. */
  readonly outbound: Outbound
  readonly pages: PageSink | null
  close(): Promise<void>
}

/** The name a site's robots.txt may address. */
const AGENT = 'carillon'
const COMMAND_GRACE_MS: Millis = 5_000

export function actionHandlers(options: ActionOptions): Actions {
  const { clock, pages = null, userAgent = 'Carillon' } = options
  const { list, problems } = AllowList.parse(options.allowHosts ?? [])
  refuse('SETTINGS_INVALID', 'the allowed hosts are not valid', problems)
  const env = options.env ?? process.env
  const secrets = secretsFrom(env)
  const outbound = new Outbound({
    clock,
    allow: list,
    dns: options.dns ?? [],
    ...(options.limits ? { limits: options.limits } : {}),
    ...(options.resolve ? { resolve: options.resolve } : {}),
    ...(options.onRefused ? { onRefused: options.onRefused } : {}),
  })
  const pace = new HostPace(clock)
  const registry = new Registry()
    .add(httpAction({ outbound, clock, userAgent, secrets }))
    .add(crawlAction({ outbound, clock, pages, pace, agent: AGENT, userAgent }))
    .add(
      commandAction({
        clock,
        tenants: options.allowCommands === true ? [] : (options.allowCommands ?? false),
        account: options.commandAccount ?? null,
        env,
        passes: [...passedByDefault, ...(options.passEnv ?? [])],
        shell: '/bin/sh',
        graceMs: options.commandGraceMs ?? COMMAND_GRACE_MS,
      }),
    )
  return {
    registry,
    outbound,
    pages,
    get handlers() {
      return registry.handlers
    },
    close: async () => {
      await outbound.close()
      await pages?.close()
    },
  }
}
