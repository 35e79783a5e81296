// Every setting of the service in one table: its name in a configuration file, its environment
// variable, its flag, its form and its default. The reference page is checked against it.

import { outboundDefaults } from '../../actions/guard/outbound.ts'
import { CPU_SECONDS, MEMORY_MB } from '../../actions/isolate/bounds.ts'
import { engineDefaults } from '../../runtime/settings.ts'
import { httpDefaults } from '../http/app/settings.ts'
import { QUEUE_SIZE } from '../../sources/source.ts'

export type Form =
  | 'text'
  | 'whole'
  | 'duration'
  | 'yes-no'
  | 'list'
  | 'queues'
  | 'level'
  | 'proxies'
  | 'tenants'
  | 'isolate'

export interface Option {
  /** As the environment has it; a flag is its lower case with dashes, without the prefix. */
  readonly env: string
  readonly form: Form
  readonly about: string
  /** Null when there is none, or when it depends on others. */
  readonly default: string | number | boolean | null
  /** Secrets are never flags: process lists show them. */
  readonly isSecret?: boolean
  /** The flag alone means yes. */
  readonly isValueOptional?: boolean
  readonly min?: number
  readonly max?: number
}

const whole = (env: string, value: number, about: string, [min, max]: [number, number]) =>
  ({ env, form: 'whole', about, default: value, min, max }) as const
const duration = (env: string, value: number, about: string, [min, max]: [number, number]) =>
  ({ env, form: 'duration', about, default: value, min, max }) as const
const text = (env: string, about: string, value: string | null = null) =>
  ({ env, form: 'text', about, default: value }) as const
const yes = (env: string, value: boolean, about: string) =>
  ({ env, form: 'yes-no', about, default: value }) as const

const HOUR = 3_600_000

export const options = {
  store: text('CARILLON_STORE', 'where jobs live; default sqlite:<data>/carillon.db'),
  data: text('CARILLON_DATA', 'the folder for the secret and the embedded store', '.carillon'),
  host: text('CARILLON_HOST', 'the address to listen on', '127.0.0.1'),
  port: whole('CARILLON_PORT', 8060, 'the port to listen on; 0 for any', [0, 65_535]),
  worker: yes('CARILLON_WORKER', true, 'run jobs in this process'),
  slots: whole('CARILLON_SLOTS', engineDefaults.slots, 'jobs running at once', [1, 100_000]),
  queues: {
    env: 'CARILLON_QUEUES',
    form: 'queues',
    about: 'the queues served, such as mail,crawl:10; all when not given',
    default: null,
  },
  nodeId: text('CARILLON_NODE_ID', 'the name of this node; made up when not given'),
  jwtSecret: { ...text('CARILLON_JWT_SECRET', 'signs tokens (HS256)'), isSecret: true },
  jwksUrl: text('CARILLON_JWKS_URL', 'where the keys of your identity provider are'),
  jwtIssuer: text('CARILLON_JWT_ISSUER', 'tokens must name this issuer'),
  jwtAudience: text('CARILLON_JWT_AUDIENCE', 'tokens must be meant for this audience'),
  allowHosts: {
    env: 'CARILLON_ALLOW_HOSTS',
    form: 'list',
    about: 'internal hosts that jobs may reach',
    default: null,
  },
  dns: {
    env: 'CARILLON_DNS',
    form: 'list',
    about:
      "name servers to ask for hosts of jobs, or system; default the system's, without its threads",
    default: null,
  },
  allowCommands: {
    env: 'CARILLON_ALLOW_COMMANDS',
    form: 'tenants',
    about: 'run commands on this machine: those that admins of every tenant make, or these tenants',
    default: false,
    isValueOptional: true,
  },
  commandUser: text('CARILLON_COMMAND_USER', 'the account commands run under; needs root'),
  connectTimeoutMs: duration(
    'CARILLON_CONNECT_TIMEOUT',
    outboundDefaults.connectMs,
    'how long jobs wait for a connection to a host',
    [100, HOUR],
  ),
  firstByteTimeoutMs: {
    env: 'CARILLON_FIRST_BYTE_TIMEOUT',
    form: 'duration',
    about: 'how long jobs wait for the first byte of an answer; default the timeout of the request',
    default: null,
    min: 100,
    max: HOUR,
  },
  hostConnections: {
    env: 'CARILLON_HOST_CONNECTIONS',
    form: 'list',
    about: 'requests of this node to one host at once, such as 16,api.example.com=50; default 8',
    default: null,
  },
  isolate: {
    env: 'CARILLON_ISOLATE',
    form: 'isolate',
    about: 'where handlers of the configuration file run: none (in the node), process or thread',
    default: 'none',
  },
  isolateMemoryMb: {
    env: 'CARILLON_ISOLATE_MEMORY_MB',
    form: 'whole',
    about: 'the most memory of an isolated handler, in MB; no limit when not given',
    default: null,
    ...MEMORY_MB,
  },
  isolateCpuSeconds: {
    env: 'CARILLON_ISOLATE_CPU_SECONDS',
    form: 'whole',
    about:
      'the most CPU time of one attempt of an isolated handler, in seconds; no limit when not given',
    default: null,
    ...CPU_SECONDS,
  },
  dataDb: text(
    'CARILLON_DATA_DB',
    'where crawled pages go unless the store is PostgreSQL, ' +
      'and rows of sources if the store has no tables; <data>/pages.db',
  ),
  sourceQueue: whole(
    'CARILLON_SOURCE_QUEUE',
    QUEUE_SIZE,
    'sources held in memory beyond those running',
    [0, 1_000],
  ),
  checkIntervalMs: duration(
    'CARILLON_CHECK_INTERVAL',
    engineDefaults.checkIntervalMs,
    'the longest sleep of the loop',
    [10, HOUR],
  ),
  lockDurationMs: duration(
    'CARILLON_LOCK_DURATION',
    engineDefaults.leaseMs,
    'how long a claim holds without being renewed',
    [100, HOUR],
  ),
  staleLockCheckMs: duration(
    'CARILLON_STALE_LOCK_CHECK',
    engineDefaults.reapMs,
    'how often ended claims are looked for',
    [10, HOUR],
  ),
  metricsMs: duration(
    'CARILLON_METRICS_INTERVAL',
    engineDefaults.metricsMs,
    'how often metrics are collected',
    [100, HOUR],
  ),
  drainMs: duration(
    'CARILLON_DRAIN',
    engineDefaults.drainMs,
    'how long a stop waits for running jobs',
    [0, 24 * HOUR],
  ),
  abortGraceMs: {
    env: 'CARILLON_ABORT_GRACE',
    form: 'duration',
    about: 'how long an aborted job may take to end; default 1s, 6s with commands',
    default: null,
    min: 0,
    max: 10 * 60_000,
  },
  ratePerMinute: whole(
    'CARILLON_RATE_LIMIT',
    httpDefaults.ratePerMinute!,
    'requests of one token in a minute; 0 for no limit',
    [0, 100_000_000],
  ),
  tenantRequestsMax: whole(
    'CARILLON_TENANT_REQUESTS',
    httpDefaults.tenantRequestsMax,
    'requests of one tenant that are worked on at once; further ones wait',
    [1, 100_000],
  ),
  intervalMsMin: duration(
    'CARILLON_INTERVAL_MIN',
    httpDefaults.intervalMsMin,
    'the shortest time between firings of what is made with a token of one tenant',
    [1, 24 * HOUR],
  ),
  bodyBytesMax: whole(
    'CARILLON_BODY_BYTES',
    httpDefaults.bodyBytesMax,
    'the largest body of a request',
    [1_024, 64 * 1024 * 1024],
  ),
  dashboard: yes('CARILLON_DASHBOARD', true, 'serve the dashboard'),
  environment: text('CARILLON_ENVIRONMENT', 'the name of this place in the dashboard: production'),
  trustProxy: {
    env: 'CARILLON_TRUST_PROXY',
    form: 'proxies',
    about: 'believe so many proxies in front (1 if not given), or those at these addresses',
    default: false,
    isValueOptional: true,
  },
  requireIfMatch: yes(
    'CARILLON_REQUIRE_IF_MATCH',
    false,
    'edits must say which revision they mean',
  ),
  alertUrl: {
    ...text('CARILLON_ALERT_URL', 'where alerts are sent; none are without it'),
    isSecret: true,
  },
  alertSecret: {
    ...text('CARILLON_ALERT_SECRET', 'signs alerts (whsec_…)'),
    isSecret: true,
  },
  alerts: {
    env: 'CARILLON_ALERTS',
    form: 'list',
    about: 'other limits, such as success_rate=90%,stale_locks=off',
    default: null,
  },
  logLevel: {
    env: 'CARILLON_LOG_LEVEL',
    form: 'level',
    about: 'debug, info, warn, error or silent; JSON lines on the standard error',
    default: 'info',
  },
} as const satisfies Record<string, Option>

export type OptionName = keyof typeof options
export const optionNames = Object.keys(options) as OptionName[]

/** `CARILLON_JWKS_URL` → `jwks-url`. */
export function flagOf(name: OptionName): string | null {
  const option: Option = options[name]
  if (option.isSecret) return null
  return option.env.replace('CARILLON_', '').toLowerCase().replaceAll('_', '-')
}
