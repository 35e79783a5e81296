// The dashboard over a large store: how soon the first page is of use, and how long every call of
// every page takes.
// Usage: tsx bench/dashboard/main.ts [--quick] [--json] [--browser PATH] [--file kept.db]

import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import { paths } from '../../src/dashboard/paths.ts'
import { requireBinaries } from '../../tests/support/servers/binaries.ts'
import { assertBuilt, openSite, type Site } from '../http/rig.ts'
import { inFolder, median, percentile, show, type Figure } from '../support.ts'
import { fill, type Size } from './fill.ts'

const isQuick = process.argv.includes('--quick')
const isJson = process.argv.includes('--json')
const given = (flag: string) => {
  const at = process.argv.indexOf(flag)
  return at < 0 ? null : (process.argv[at + 1] ?? null)
}
/** Filled if it is not there, and left for the next time. */
const kept = given('--file') === null ? null : resolve(given('--file')!)
const size: Size = isQuick ? { jobs: 1_000, attempts: 20 } : { jobs: 10_000, attempts: 100 }
/** So many that a few slow ones are not taken for the 95th of a hundred. */
const ROUNDS = 60
const PAINT_MS = 1_500
const CALL_MS = 100

/** Where each page begins to be of use. */
const useful: Readonly<Record<string, string>> = {
  '/': '.tile-value:not(:text("…"))',
  '/jobs': 'tbody tr',
  '/runs': 'tbody tr',
}

const pages: readonly string[] = [
  paths.overview,
  paths.jobs,
  `${paths.jobs}?q=status%3Apaused`,
  `${paths.jobs}?q=tenant%3Atenant-3`,
  `${paths.jobs}?q=tenant%3Atenant-3&sort=next_run_at`,
  paths.job.replace(':id', 'job-000042'),
  paths.runs,
  `${paths.runs}?status=failed`,
  `${paths.runs}?job=job-000042`,
  `${paths.runs}?tenant=tenant-3`,
  paths.run.replace(':id', 'job-000042.5'),
  paths.timeline,
  `${paths.timeline}?span=24h`,
  `${paths.timeline}?span=30d`,
  paths.tenants,
  `${paths.tenants}?minutes=1440`,
  paths.workflows,
  paths.sources,
  paths.system,
  paths.audit,
]

async function paint(page: Page, site: Site, path: string): Promise<number> {
  const mark = useful[path.split('?')[0]!] ?? 'main section'
  await page.goto(site.serving.address + path, { waitUntil: 'commit' })
  await page.locator(mark).first().waitFor()
  return page.evaluate<number>('performance.now()')
}

/** What a page asks until it is at rest. */
async function callsOf(page: Page, site: Site, path: string): Promise<string[]> {
  const asked = new Set<string>()
  const heard = (request: { method(): string; url(): string }) => {
    const address = request.url().slice(site.serving.address.length)
    const isRead = request.method() === 'GET' && address.startsWith('/api/v1/')
    if (isRead && !address.startsWith('/api/v1/events')) asked.add(address)
  }
  page.on('request', heard)
  await page.goto(site.serving.address + path)
  await page.locator('h1').waitFor()
  await page.locator('.loading').first().waitFor({ state: 'detached' })
  await page.waitForTimeout(500)
  page.off('request', heard)
  return [...asked]
}

async function timed(site: Site, address: string): Promise<Figure> {
  const took: number[] = []
  const before = cpuMs(site)
  for (let round = 0; round < ROUNDS; round++) {
    const from = performance.now()
    const answer = await fetch(site.serving.address + address, {
      headers: { authorization: site.wide },
    })
    await answer.text()
    took.push(performance.now() - from)
    if (!answer.ok) throw new Error(`${address} answered ${answer.status}`)
  }
  const cpu = before === null ? '' : `, cpu ${((cpuMs(site)! - before) / ROUNDS).toFixed(1)}`
  const note = `median ${median(took).toFixed(1)}${cpu}`
  return { ...limit(`p95 ${address}`, percentile(took, 0.95), CALL_MS), note }
}

const TICK_MS = 10

/** What the service has worked so far: says more than the clock where others work too. */
function cpuMs({ serving }: Site): number | null {
  try {
    const text = readFileSync(`/proc/${serving.child.pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  } catch {
    return null
  }
}

/** Shown as they come: a slow one is to be seen while it is. */
async function measure(site: Site, browser: Browser): Promise<Figure[]> {
  const context = await browser.newContext({
    extraHTTPHeaders: { authorization: site.wide },
  })
  const page = await context.newPage()
  const figures: Figure[] = []
  const tell = (figure: Figure) => {
    figures.push(figure)
    if (!isJson) show(figure)
  }
  for (const path of Object.keys(useful)) {
    tell(limit(`first useful paint of ${path}`, await paint(page, site, path), PAINT_MS))
  }
  const known = new Set<string>()
  for (const path of pages) {
    for (const call of await callsOf(page, site, path)) known.add(call)
  }
  for (const call of known) tell(await timed(site, call))
  return figures
}

function limit(name: string, value: number, target: number): Figure {
  return { name: name.slice(0, 110), value, unit: 'ms', target, lowerIsBetter: true }
}

assertBuilt()
await inFolder(async folder => {
  const file = kept ?? join(folder, 'jobs.db')
  if (!existsSync(file)) {
    const { written, tookMs } = await fill(file, size)
    const took = `${Math.round(tookMs / 1_000)} s`
    if (!isJson) console.log(`  ${written} attempts of ${size.jobs} jobs in ${took}`)
  }
  const site = await openSite(folder, `sqlite:${file}`, ['--no-worker'])
  const executablePath = given('--browser') ?? join(requireBinaries('chromium'), 'chromium')
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  try {
    const figures = await measure(site, browser)
    if (isJson) console.log(JSON.stringify(figures, null, 2))
  } finally {
    await browser.close()
    await site.stop()
  }
})
