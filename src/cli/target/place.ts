// Which target is meant: a flag, else the environment, else the configuration file, else the store
// in the data folder. On one level a service wins over a store.

import { existsSync, readFileSync, statSync } from 'node:fs'
import process from 'node:process'
import { readConfigFile, type ConfigFile } from '../../service/config/config-file.ts'
import type { ServeConfig } from '../../service/config/config.ts'
import { exits } from '../exits.ts'
import type { Globals } from '../globals.ts'
import { CliProblem, usage } from '../problem.ts'

export type Place =
  | {
      readonly kind: 'remote'
      readonly url: string
      readonly token: string | null
      readonly isDefault: false
    }
  | {
      readonly kind: 'local'
      readonly config: ServeConfig
      readonly handlers: ConfigFile['handlers']
      readonly isDefault: boolean
    }

type Env = Readonly<Record<string, string | undefined>>

export async function placeOf(globals: Globals, env: Env = process.env): Promise<Place> {
  const { server, store } = globals
  if (server !== null && store !== null) {
    throw usage('--server and --store name two different places', 'give one of them')
  }
  const file = await readConfigFile(process.cwd(), globals.config ?? undefined)
  const held = (name: string) => textOf(file?.values[name])
  const url = [
    server,
    store === null ? (env['CARILLON_SERVER'] ?? '') : null,
    store === null && !env['CARILLON_STORE'] ? held('server') : null,
  ].find(value => value !== null && value !== '')
  if (url) {
    return {
      kind: 'remote',
      url: checked(url),
      token: tokenOf(globals, env, held),
      isDefault: false,
    }
  }
  const { resolveConfig } = await import('../../service/config/config.ts')
  const flags = {
    ...(store === null ? {} : { store }),
    ...(globals.data === null ? {} : { data: globals.data }),
    logLevel: 'silent',
  }
  const config = resolveConfig({ flags, env, file })
  const isDefault = store === null && globals.data === null && !env['CARILLON_STORE']
  return { kind: 'local', config, handlers: file?.handlers ?? {}, isDefault }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function checked(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw usage(
      `${text.slice(0, 100)} is not the address of a service`,
      'such as http://127.0.0.1:8060',
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw usage('an address with a password is shown to others', 'put a token into CARILLON_TOKEN')
  }
  return text
}

/** Never from the command line itself: process lists show it. */
function tokenOf(globals: Globals, env: Env, held: (name: string) => string | null): string | null {
  const path = globals.tokenFile
  if (path !== null) return readToken(path)
  const given = env['CARILLON_TOKEN']
  if (given) return given.trim()
  const named = env['CARILLON_TOKEN_FILE'] || held('tokenFile')
  return named ? readToken(named) : held('token')
}

function readToken(path: string): string {
  if (!existsSync(path)) throw new CliProblem(exits.auth, `the token file ${path} is not there`)
  const isOpen = process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0
  if (isOpen) {
    throw new CliProblem(exits.auth, `${path} can be read by others`, `chmod 600 ${path}`)
  }
  return readFileSync(path, 'utf8').trim()
}
