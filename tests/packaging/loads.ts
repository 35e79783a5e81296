// What a start of the installed program loads: files of ours, and packages.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Loaded {
  /** How many files of our packages. */
  readonly own: number
  /** Packages of which it imports anything. */
  readonly packages: readonly string[]
}

const asModule = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`

const hook = asModule(`
import { appendFileSync } from 'node:fs'
export async function load(url, context, next) {
  appendFileSync(process.env.LOADED, url + '\\n')
  return next(url, context)
}`)
const watch = asModule(`import { register } from 'node:module'; register(${JSON.stringify(hook)})`)

/** Runs to its end, or until it says `until`: then it is ended at once. */
export async function loads(
  project: string,
  words: readonly string[],
  until: RegExp | null = null,
): Promise<Loaded> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-loads-'))
  const list = join(folder, 'loaded')
  const main = join(project, 'node_modules/carillon/dist/launcher.js')
  try {
    const child = spawn(process.execPath, ['--import', watch, main, ...words], {
      cwd: folder,
      env: { PATH: process.env['PATH'], LOADED: list },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    child.stdout.on('data', (bytes: Buffer) => {
      said += bytes.toString()
      if (until?.test(said)) child.kill('SIGKILL')
    })
    const [code] = (await once(child, 'exit')) as [number | null]
    const isAsMeant = until === null ? code === 0 : until.test(said)
    if (!isAsMeant) throw new Error(`${words.join(' ')} ended with ${code}: ${said}`)
    return loadedOf(readFileSync(list, 'utf8').split('\n'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function loadedOf(urls: readonly string[]): Loaded {
  const ours = /\/node_modules\/carillon(?:-service)?\/dist\//
  const own = urls.filter(url => ours.test(url)).length
  const names = urls
    .filter(url => !ours.test(url))
    .flatMap(url => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? [])
  return { own, packages: [...new Set(names)].toSorted() }
}
