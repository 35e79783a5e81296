// The configuration of the service: flags, then the environment, then a file, then defaults. Every
// problem is reported at once, by the name under which the value came.

import { isIP, isIPv4, isIPv6 } from 'node:net'
import { join } from 'node:path'
import { parseHostLimits } from '../../actions/guard/host-limits.ts'
import { outboundDefaults } from '../../actions/guard/outbound.ts'
import process from 'node:process'
import { isUsageKnown } from '../../actions/usage.ts'
import { refuse, type Problem } from '../../core/errors.ts'
import { parseDuration } from '../../core/time.ts'
import { engineDefaults, type QueueSettings } from '../../runtime/settings.ts'
import type { CommandTenants } from '../../actions/command/settings.ts'
import { EVERY_TENANT, tenantPattern } from '../auth/principal.ts'
import { HOPS_MAX, isProxyRange, type TrustedProxies } from '../http/app/proxies.ts'
import { secretProblems } from '../auth/secret.ts'
import { alertProblems } from '../alerts/limits.ts'
import { flagOf, optionNames, options, type Option, type OptionName } from './options.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'
const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent']

const isolates = ['none', 'process', 'thread'] as const
export type Isolate = (typeof isolates)[number]

export interface ServeConfig {
  readonly store: string
  readonly data: string
  readonly host: string
  readonly port: number
  readonly worker: boolean
  readonly slots: number
  readonly queues: Readonly<Record<string, QueueSettings>> | null
  readonly nodeId: string | null
  readonly jwtSecret: string | null
  readonly jwksUrl: string | null
  readonly jwtIssuer: string | null
  readonly jwtAudience: string | null
  readonly allowHosts: readonly string[]
  readonly dns: readonly string[]
  readonly allowCommands: CommandTenants
  readonly commandUser: string | null
  readonly connectTimeoutMs: number
  readonly firstByteTimeoutMs: number | null
  /** A number for every host, and numbers of single ones, such as `api.example.com=50`. */
  readonly hostConnections: readonly string[]
  readonly isolate: Isolate
  readonly isolateMemoryMb: number | null
  readonly isolateCpuSeconds: number | null
  readonly dataDb: string
  readonly sourceQueue: number
  readonly checkIntervalMs: number
  readonly lockDurationMs: number
  readonly staleLockCheckMs: number
  readonly metricsMs: number
  readonly drainMs: number
  readonly abortGraceMs: number
  readonly ratePerMinute: number
  readonly tenantRequestsMax: number
  readonly intervalMsMin: number
  readonly bodyBytesMax: number
  readonly dashboard: boolean
  readonly environment: string | null
  readonly trustProxy: TrustedProxies
  readonly requireIfMatch: boolean
  /** It may hold a key of its receiver, so it is treated like a secret. */
  readonly alertUrl: string | null
  readonly alertSecret: string | null
  /** Limits that differ from the usual ones, such as `success_rate=90%`. */
  readonly alerts: readonly string[]
  readonly logLevel: LogLevel
}

export interface Sources {
  /** By option name, as the command line gave them. */
  readonly flags: Readonly<Partial<Record<OptionName, unknown>>>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly file: {
    readonly path: string
    readonly values: Readonly<Record<string, unknown>>
  } | null
}

/** A command has five seconds to end by itself; a node that waits less would leave it behind. */
const COMMANDS_ABORT_GRACE_MS = 6_000

interface Given {
  readonly value: unknown
  /** What to call it in a message: the flag, the variable or the key of the file. */
  readonly field: string
}

export function resolveConfig(sources: Sources): ServeConfig {
  const problems: Problem[] = unknownKeys(sources.file)
  const values: Record<string, unknown> = {}
  for (const name of optionNames) {
    const given = givenFor(name, sources)
    const parsed = given === null ? { value: defaultOf(name) } : parse(options[name], given)
    if ('problem' in parsed) problems.push(parsed.problem)
    else values[name] = parsed.value
  }
  const config = values as unknown as ServeConfig
  const data = config.data ?? options.data.default
  const whole: ServeConfig = {
    ...config,
    store: config.store ?? `sqlite:${join(data, 'carillon.db')}`,
    dataDb: config.dataDb ?? join(data, 'pages.db'),
    allowHosts: config.allowHosts ?? [],
    hostConnections: config.hostConnections ?? [],
    dns: config.dns ?? [],
    alerts: config.alerts ?? [],
    abortGraceMs:
      config.abortGraceMs ??
      (config.allowCommands === false ? engineDefaults.abortGraceMs : COMMANDS_ABORT_GRACE_MS),
  }
  refuse('SETTINGS_INVALID', 'the configuration is not valid', [...problems, ...together(whole)])
  return whole
}

/** Code, and where the command line finds a service of others. */
const alsoKnown = ['handlers', 'server', 'token', 'tokenFile']

function unknownKeys(file: Sources['file']): Problem[] {
  if (file === null) return []
  const known: readonly string[] = [...optionNames, ...alsoKnown]
  return Object.keys(file.values)
    .filter(key => !known.includes(key))
    .map(key => ({ field: `${key} in ${file.path}`, value: '', rule: 'is not a known setting' }))
}

function givenFor(name: OptionName, { flags, env, file }: Sources): Given | null {
  if (flags[name] !== undefined) return { value: flags[name], field: `--${flagOf(name)}` }
  const variable = options[name].env
  const text = env[variable]
  if (text !== undefined && text !== '') return { value: text, field: variable }
  const held = file && Object.hasOwn(file.values, name) ? file.values[name] : undefined
  return held === undefined ? null : { value: held, field: `${name} in ${file!.path}` }
}

function defaultOf(name: OptionName): unknown {
  return options[name].default
}

type Parsed = { readonly value: unknown } | { readonly problem: Problem }

function parse(option: Option, { value, field }: Given): Parsed {
  const wrong = (rule: string): Parsed => ({
    problem: { field, value: option.isSecret ? '***' : value, rule },
  })
  switch (option.form) {
    case 'text':
      return typeof value === 'string' && value !== '' ? { value } : wrong('must be a text')
    case 'whole':
      return bounded(toNumber(value), option) ?? wrong(`must be a whole number${rangeOf(option)}`)
    case 'duration':
      return (
        bounded(toDuration(value), option) ??
        wrong('must be a duration such as 30s or 5m, or milliseconds, within its bounds')
      )
    case 'yes-no': {
      const answer = yesOrNo(value)
      return answer === null ? wrong('must be true or false') : { value: answer }
    }
    case 'tenants':
      return tenantsOf(value) ?? wrong('must be true or false, or a comma list of tenants')
    case 'proxies':
      return (
        proxiesOf(value) ??
        wrong('must be a number of proxies, or a comma list of addresses such as 10.0.0.0/8')
      )
    case 'list':
      return listOf(value) ?? wrong('must be a comma list, or a list of texts')
    case 'queues':
      return queuesOf(value) ?? wrong('must be a comma list such as mail,crawl:10')
    case 'level':
      return levels.includes(value as LogLevel)
        ? { value }
        : wrong(`must be one of ${levels.join(', ')}`)
    case 'isolate':
      return isolates.includes(value as Isolate)
        ? { value }
        : wrong(`must be one of ${isolates.join(', ')}`)
  }
}

function rangeOf({ min, max }: Option): string {
  return min === undefined ? '' : ` from ${min} to ${max}`
}

function bounded(value: number | null, { min = 0, max = Infinity }: Option): Parsed | null {
  const fits = value !== null && Number.isSafeInteger(value) && value >= min && value <= max
  return fits ? { value } : null
}

function toNumber(value: unknown): number | null {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : null
}

function toDuration(value: unknown): number | null {
  return toNumber(value) ?? (typeof value === 'string' ? parseDuration(value) : null)
}

function yesOrNo(value: unknown): boolean | null {
  if ([true, 'true', '1', 'yes'].includes(value as never)) return true
  return [false, 'false', '0', 'no'].includes(value as never) ? false : null
}

/** Yes means admins of every tenant alone, and so does `*`. */
function tenantsOf(value: unknown): Parsed | null {
  const answer = yesOrNo(value)
  if (answer !== null) return { value: answer ? [] : false }
  const list = listOf(value)
  if (list === null || 'problem' in list) return null
  const names = list.value as string[]
  const isFine = names.every(name => name === EVERY_TENANT || tenantPattern.test(name))
  return isFine && names.length > 0 ? { value: names.filter(name => name !== EVERY_TENANT) } : null
}

/** Yes means one proxy: never what the client itself wrote. */
function proxiesOf(value: unknown): Parsed | null {
  const answer = yesOrNo(value)
  if (answer !== null) return { value: answer ? 1 : false }
  const hops = toNumber(value)
  if (hops !== null) return hops >= 1 && hops <= HOPS_MAX ? { value: hops } : null
  const list = listOf(value)
  if (list === null || 'problem' in list) return null
  const texts = list.value as string[]
  return texts.length > 0 && texts.every(isProxyRange) ? { value: texts } : null
}

function listOf(value: unknown): Parsed | null {
  const items = typeof value === 'string' ? value.split(',') : value
  if (!Array.isArray(items) || !items.every(item => typeof item === 'string')) return null
  return { value: items.map(item => item.trim()).filter(item => item !== '') }
}

/** `mail,crawl:10`, or what the engine takes: `{ crawl: { slots: 10 } }`. */
function queuesOf(value: unknown): Parsed | null {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { value }
  const list = listOf(value)
  if (list === null || 'problem' in list) return null
  const pairs = (list.value as string[]).map(item => /^([^:]+)(?::(\d{1,6}))?$/.exec(item))
  if (pairs.length === 0 || pairs.some(pair => pair === null)) return null
  const entries = pairs.map(pair => [
    pair![1]!,
    pair![2] === undefined ? {} : { slots: Number(pair![2]) },
  ])
  return { value: Object.fromEntries(entries) as Record<string, QueueSettings> }
}

/** Rules between settings. */
function together(config: ServeConfig): Problem[] {
  const { host, jwtSecret, jwksUrl } = config
  const problems: Problem[] = [...alertProblems(config), ...hostLimitsOf(config).problems]
  if (jwtSecret !== null && jwtSecret !== undefined) {
    problems.push(...secretProblems(jwtSecret, 'CARILLON_JWT_SECRET'))
  }
  if (jwksUrl != null && !isKeyUrl(jwksUrl)) {
    const rule = 'must be an https address, or http on this machine'
    problems.push({ field: 'CARILLON_JWKS_URL', value: jwksUrl, rule })
  }
  if (jwksUrl != null && config.jwtIssuer == null) {
    const rule = 'is needed with CARILLON_JWKS_URL'
    problems.push({ field: 'CARILLON_JWT_ISSUER', value: null, rule })
  }
  for (const server of config.dns) {
    if (isNameServer(server) || (server === 'system' && config.dns.length === 1)) continue
    const rule = 'must be addresses of name servers, each with :port if it has one, or system alone'
    problems.push({ field: 'CARILLON_DNS', value: server, rule })
  }
  if (config.allowCommands !== false && config.abortGraceMs < COMMANDS_ABORT_GRACE_MS) {
    const rule = `must be at least ${COMMANDS_ABORT_GRACE_MS} where commands are allowed`
    problems.push({ field: 'CARILLON_ABORT_GRACE', value: config.abortGraceMs, rule })
  }
  if (config.isolate === 'thread' && config.isolateCpuSeconds !== null && !isUsageKnown) {
    const why = `${process.platform} does not tell the CPU time of threads`
    const rule = `needs CARILLON_ISOLATE=process: ${why}`
    problems.push({ field: 'CARILLON_ISOLATE_CPU_SECONDS', value: config.isolateCpuSeconds, rule })
  }
  const isConfigured = jwtSecret != null || jwksUrl != null
  if (host != null && !isLoopbackHost(host) && !isConfigured) {
    const rule = 'other machines could reach it: set CARILLON_JWT_SECRET or CARILLON_JWKS_URL first'
    problems.push({ field: 'CARILLON_HOST', value: host, rule })
  }
  return problems
}

export function hostLimitsOf({ hostConnections }: Pick<ServeConfig, 'hostConnections'>) {
  return parseHostLimits(hostConnections, outboundDefaults, 'CARILLON_HOST_CONNECTIONS')
}

/** `10.0.0.2`, `10.0.0.2:5353`, `fd00::2` or `[fd00::2]:5353`. */
function isNameServer(text: string): boolean {
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([\d.]*))(?::(\d{1,5}))?$/.exec(text) ?? []
  const isPort = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535)
  return isIP(text) > 0 || (isPort && (isIPv6(bracketed ?? '') || isIPv4(plain ?? '')))
}

function isKeyUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname))
}

export function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/.test(host)
}
