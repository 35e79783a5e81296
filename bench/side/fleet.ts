// The processes of the contenders: their code is bundled first, so that what runs is plain JavaScript
// as a published package has it, and asked over their channels.

import { fork, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import type { Contender } from './contender.ts'
import type { Message } from './host.ts'
import type { Order, PartName, Sample } from './parts.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))
/** Where bundles find the packages they import. */
const outOwn = join(root, 'node_modules/.cache/carillon-bench')
const outPeers = join(root, 'bench/peers/node_modules/.cache/carillon-bench')

export const modules = {
  carillon: 'bench/side/carillon.ts',
  bullmq: 'bench/peers/bullmq.ts',
  'pg-boss': 'bench/peers/pg-boss.ts',
  'graphile-worker': 'bench/peers/graphile-worker.ts',
  agenda: 'bench/peers/agenda.ts',
  'in-memory': 'bench/peers/in-memory.ts',
} as const
export type ModuleName = keyof typeof modules

/** Everything about a contender but its code. */
export type Described = Omit<Contender, 'open'> & { readonly version: string }

export interface Entry extends Described {
  readonly module: ModuleName
  /** Its place in the list its module exports. */
  readonly at: number
}

/** Modules find the files beside them where these lie in src. */
const ownPlaces: Plugin = {
  name: 'own-places',
  setup: bundler => {
    bundler.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      const place = JSON.stringify(pathToFileURL(path).href)
      return { contents: text.replaceAll('import.meta.url', place), loader: 'ts' }
    })
  },
}

export async function bundle(file: string, isPeer: boolean): Promise<string> {
  const outdir = isPeer ? outPeers : outOwn
  await build({
    absWorkingDir: root,
    entryPoints: [file],
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    outExtension: { '.js': '.mjs' },
    logLevel: 'error',
    plugins: [ownPlaces],
  })
  return join(outdir, file.split('/').at(-1)!.replace(/\.ts$/, '.mjs'))
}

export interface Usage {
  readonly rssMb: number
  /** Of all its threads since its start. */
  readonly cpuMs: number
}

export class Host {
  readonly #child: ChildProcess
  #progress: (count: number) => void = () => {}

  private constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', (message: Record<string, unknown>) => {
      if ('progress' in message) this.#progress(message['progress'] as number)
    })
  }

  static async start(hostFile: string, contenderFile: string): Promise<Host> {
    const child = fork(hostFile, [contenderFile], { execArgv: ['--expose-gc'], cwd: root })
    const host = new Host(child)
    await host.#answer()
    return host
  }

  #answer(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null) => reject(new Error(`a contender ended with ${code}`))
      const onMessage = (message: Record<string, unknown>) => {
        if ('progress' in message) return
        this.#child.off('message', onMessage)
        this.#child.off('exit', onExit)
        if ('error' in message) reject(new Error(String(message['error'])))
        else resolve(message['result'])
      }
      this.#child.on('message', onMessage)
      this.#child.once('exit', onExit)
    })
  }

  #ask(message: Message): Promise<unknown> {
    const answer = this.#answer()
    this.#child.send(message)
    return answer
  }

  get isAlive(): boolean {
    return this.#child.connected
  }

  async describe(): Promise<Omit<Contender, 'open'>[]> {
    return (await this.#ask({ kind: 'describe' })) as Omit<Contender, 'open'>[]
  }

  async measure(part: PartName, at: number, order: Order): Promise<Sample[]> {
    return (await this.#ask({ kind: 'measure', part, at, order })) as Sample[]
  }

  async fill(at: number, order: Order): Promise<void> {
    await this.#ask({ kind: 'fill', at, order })
  }

  /** Jobs that differ; answers how many were inserted a second. */
  async fillMixed(at: number, order: Order): Promise<number> {
    return (await this.#ask({ kind: 'fill-mixed', at, order })) as number
  }

  /** After `ready`: works, and notes how long ago each job was asked for. */
  async listen(handlerMs: number): Promise<void> {
    await this.#ask({ kind: 'listen', handlerMs })
  }

  /** After `ready`: asks for so many jobs at a steady pace. */
  async produce(count: number, gapMs: number): Promise<void> {
    await this.#ask({ kind: 'produce', count, gapMs })
  }

  /** How long ago the jobs heard of since the last call had been asked for, in ms. */
  async heard(): Promise<number[]> {
    return (await this.#ask({ kind: 'heard' })) as number[]
  }

  async usage(): Promise<Usage> {
    return (await this.#ask({ kind: 'usage' })) as Usage
  }

  async ready(at: number, order: Order): Promise<void> {
    await this.#ask({ kind: 'ready', at, order })
  }

  /** After `ready`: tells how many it has started, every now and then, until it is ended. */
  async go(onProgress: (count: number) => void): Promise<void> {
    this.#progress = onProgress
    await this.#ask({ kind: 'go' })
  }

  /** Resolves when all it started is recorded as done. */
  async finish(): Promise<void> {
    await this.#ask({ kind: 'finish' })
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = new Promise(resolve => this.#child.once('exit', resolve))
    this.#child.kill('SIGKILL')
    await ended
  }
}

/** Who shares a process: what one store taught the compiler would slow another down. */
export type Berth = Pick<Entry, 'module' | 'store'>
const nameOf = ({ module, store }: Berth): string => `${module} on ${store}`

export class Fleet {
  readonly #hostFile: string
  readonly #files: ReadonlyMap<ModuleName, string>
  readonly #hosts = new Map<string, Host>()

  private constructor(hostFile: string, files: ReadonlyMap<ModuleName, string>) {
    this.#hostFile = hostFile
    this.#files = files
  }

  static async ready(names: readonly ModuleName[]): Promise<Fleet> {
    const hostFile = await bundle('bench/side/host.ts', false)
    const files = new Map<ModuleName, string>()
    for (const name of names) files.set(name, await bundle(modules[name], name !== 'carillon'))
    return new Fleet(hostFile, files)
  }

  async entries(): Promise<Entry[]> {
    const all: Entry[] = []
    for (const module of this.#files.keys()) {
      const host = await this.another(module)
      const described = await host.describe()
      await host.end()
      described.forEach((contender, at) => {
        all.push({ ...contender, version: versionOf(contender.name), module, at })
      })
    }
    return all
  }

  /** The process of a contender on a store; one that ended is started again. */
  async host(berth: Berth): Promise<Host> {
    const name = nameOf(berth)
    const running = this.#hosts.get(name)
    if (running?.isAlive) return running
    const host = await this.another(berth.module)
    this.#hosts.set(name, host)
    return host
  }

  /** One more process, which the caller ends. */
  another(module: ModuleName): Promise<Host> {
    return Host.start(this.#hostFile, this.#files.get(module)!)
  }

  async renew(berth: Berth): Promise<void> {
    const name = nameOf(berth)
    await this.#hosts.get(name)?.end()
    this.#hosts.delete(name)
  }

  async end(): Promise<void> {
    for (const host of this.#hosts.values()) await host.end()
    this.#hosts.clear()
  }
}

/** A name may say more than the package: `bullmq keeping`. */
function versionOf(title: string): string {
  const [name] = title.split(' ')
  const from = name === 'carillon' ? root : join(root, 'bench/peers/')
  const file = name === 'carillon' ? './package.json' : `./node_modules/${name}/package.json`
  return (createRequire(join(from, 'x.js'))(file) as { version: string }).version
}
