// A real service with a real engine, a real browser, and people with tokens: one for each test file.

import { mkdtempSync, rmSync, writeFileSync, existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { buildDashboard } from '../../scripts/dashboard.ts'
import { distOf } from '../../scripts/packages.ts'
import { DAY } from '../../src/core/time.ts'
import { LIFETIME_MAX_MS } from '../../src/service/auth/authenticator.ts'
import type { Role } from '../../src/service/auth/principal.ts'
import { mint } from '../../src/service/auth/tokens.ts'
import { serveIn, type Serving } from '../support/carillon.ts'
import { findBinaries, missingMessage } from '../support/servers/binaries.ts'
import { eventually } from '../support/servers/wait.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const SECRET = 'Qm9vLXRoaXMtaXMtbm90LWEtc2FtcGxlLXNlY3JldA'

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** The browser's program, or why there is none; in CI that is an error. */
export function findBrowser(): { path: string } | { missing: string } {
  const folder = findBinaries('chromium')
  if (folder !== null) return { path: join(folder, 'chromium') }
  const missing = missingMessage('chromium')
  if (process.env['CI'] === 'true') throw new Error(`CI skips nothing: ${missing}`)
  return { missing }
}

/** Text that does something as soon as anyone takes it for markup. */
export const payloads = [
  '<img src=x onerror="window.hit=1">',
  '"><script>window.hit=1</script>',
  "'><svg onload=window.hit=1>",
  '</title><iframe srcdoc="<script>parent.hit=1</script>">',
  'javascript:window.hit=1//',
] as const

/** What jobs can do here, as a program's configuration has it. */
const config = `
const wait = (ms, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, ms)
  signal?.addEventListener('abort', () => { clearTimeout(timer); reject(signal.reason) })
})
export default {
  handlers: {
    'work.quick': () => ({ done: true }),
    'work.slow': context => wait(60_000, context.signal),
    'work.talks': async ({ log, signal }) => {
      for (let n = 1; n <= 4; n++) {
        log.info('line ' + n)
        await wait(400, signal)
      }
      log.warn('the last line')
    },
    'work.fails': () => { throw new Error('no such host') },
    'work.hostile': () => { throw new Error(${JSON.stringify(payloads.join(' '))}) },
    [${JSON.stringify(payloads[0])}]: () => ({ said: ${JSON.stringify(payloads.join(' '))} }),
  },
}
`

export interface Job {
  readonly id: string
  readonly name: string
  readonly [field: string]: unknown
}

export class World {
  readonly serving: Serving
  readonly browser: Browser
  readonly #folder: string
  /** Everything the browser complained about. */
  readonly complaints: string[] = []

  constructor(serving: Serving, browser: Browser, folder: string) {
    this.serving = serving
    this.browser = browser
    this.#folder = folder
  }

  get address(): string {
    return this.serving.address
  }

  token(role: Role = 'admin', tenant = role === 'admin' ? '*' : 'acme'): Promise<string> {
    const rules = {
      now: () => Date.now(),
      issuer: null,
      audience: null,
      lifetimeMaxMs: LIFETIME_MAX_MS,
    }
    return mint(SECRET, { sub: `${role}@${tenant}`, tenant, role, ttlMs: DAY }, rules)
  }

  /** As a program calls the service, beside the browser. */
  async call<T>(method: string, path: string, body?: unknown, role: Role = 'admin'): Promise<T> {
    const answer = await fetch(`${this.address}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${await this.token(role)}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }

  make(more: object): Promise<Job> {
    const work = 'action' in more ? {} : { handler: 'work.quick' }
    const body = { ...work, trigger: { every: '1h' }, tenant: 'acme', ...more }
    return this.call<Job>('POST', '/jobs', body)
  }

  async context(options: Parameters<Browser['newContext']>[0] = {}): Promise<BrowserContext> {
    const made = await this.browser.newContext({
      viewport: { width: 1280, height: 860 },
      timezoneId: 'Europe/Berlin',
      locale: 'en-GB',
      reducedMotion: 'reduce',
      ...options,
    })
    made.setDefaultTimeout(20_000)
    made.on('console', message => {
      const text = message.text()
      // A refused request is part of many tests; what the page itself does wrong is not.
      const isRefusal = text.startsWith('Failed to load resource')
      if (message.type() === 'error' && !isRefusal) this.complaints.push(text)
    })
    made.on('weberror', error => this.complaints.push(error.error().message))
    return made
  }

  /** A page of a browser of its own, signed in by a pasted token. */
  async signIn(
    role: Role = 'admin',
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<Page> {
    const context = await this.context(options)
    const page = await context.newPage()
    await page.goto(this.address)
    await page.getByLabel('Token or sign-in link').fill(await this.token(role))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    return page
  }

  /** Goes to a page and waits until nothing of it is still to come. */
  async open(page: Page, path: string): Promise<void> {
    await page.goto(this.address + path)
    await loaded(page)
  }

  async end(): Promise<void> {
    await this.browser.close()
    await this.serving.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

export async function loaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await eventually('everything is loaded', async () =>
    (await page.locator('.loading').count()) === 0 ? true : null,
  )
}

/** The address follows what is shown: a page may be drawn before its address is told. */
export async function expectAddress(page: Page, name: string, value: string | null): Promise<void> {
  await page.waitForURL(url => url.searchParams.get(name) === value)
}

export async function openWorld(executablePath: string): Promise<World> {
  const pages = join(root, distOf('carillon-service'), 'dashboard/pages.json')
  if (!existsSync(pages)) await buildDashboard(root)
  const folder = mkdtempSync(join(tmpdir(), 'carillon-dashboard-'))
  writeFileSync(join(folder, 'carillon.config.mjs'), config)
  const env = { CARILLON_JWT_SECRET: SECRET }
  const [serving, browser] = await Promise.all([
    serveIn(folder, { env, args: ['--log-level', 'silent'] }),
    chromium.launch({ executablePath, args: flags }),
  ])
  return new World(serving, browser, folder)
}

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
)

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** What a page does wrong by WCAG 2.2 AA, in words; empty when nothing. */
export async function axe(page: Page): Promise<string[]> {
  await page.evaluate(axeSource)
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  const found = await page.evaluate<readonly Violation[]>(
    `axe.run(document, { runOnly: ${JSON.stringify(tags)} }).then(({ violations }) => violations)`,
  )
  return found.flatMap(({ id, nodes }) =>
    nodes
      .slice(0, 3)
      .map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  )
}

/** By how much the page is wider than the screen. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
}
