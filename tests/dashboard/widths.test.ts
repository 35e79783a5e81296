// The dashboard at the widths between a phone and a wide screen, with long names: nothing scrolls
// sideways, no name is broken into single letters. And what it says when the service refuses.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/servers/wait.ts'
import { findBrowser, openWorld, overflow, type Job, type World } from './world.ts'

const found = findBrowser()
const shots = fileURLToPath(new URL('shots/', import.meta.url))
const widths = [721, 800, 901, 1024, 1100, 1200] as const
const LONG = `a-name-without-any-space-in-it-${'x'.repeat(120)}`

interface Named {
  readonly items?: readonly { readonly id: string | number }[]
}

describe.runIf('path' in found)('the dashboard between phone and wide screen', () => {
  let world: World
  let page: Page
  let addresses: readonly (readonly [string, string])[]

  beforeAll(async () => {
    mkdirSync(shots, { recursive: true })
    world = await openWorld((found as { path: string }).path)
    await world.call('POST', '/demo')
    const failing = await world.make({
      name: LONG,
      handler: 'work.fails',
      trigger: { at: new Date().toISOString() },
      retry: { limit: 0 },
    })
    const slow = await world.make({ name: `slow ${LONG}`, handler: 'work.slow', tenant: 'beta' })
    await world.call('POST', `/jobs/${slow.id}/run`)
    await eventually('the long name has failed', async () => {
      const job = await world.call<Job>('GET', `/jobs/${failing.id}`)
      return job['status'] === 'failed' ? true : null
    })
    const { items = [] } = await world.call<Named>('GET', '/workflows')
    addresses = [
      ['overview', '/'],
      ['jobs', '/jobs'],
      ['runs', '/runs'],
      ['timeline', '/timeline?span=24h'],
      ['job', `/jobs/${failing.id}`],
      ['workflow', `/workflows/${items[0]!.id}`],
      ['sources', '/sources'],
      ['tenants', '/tenants'],
      ['system', '/system'],
    ]
    page = await world.signIn()
  })

  afterAll(() => world?.end())

  it(
    'N6: scrolls no page and no table sideways from 721 to 1200 px',
    { timeout: 120_000 },
    async () => {
      const wrong: string[] = []
      for (const [name, address] of addresses) {
        await page.setViewportSize({ width: 1_440, height: 900 })
        await world.open(page, address)
        for (const width of widths) {
          await page.setViewportSize({ width, height: 900 })
          await eventually(`${name} is laid out for ${width}`, async () =>
            (await page.evaluate<number>('innerWidth')) === width ? true : null,
          )
          await page.evaluate(
            'new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))',
          )
          const by = await overflow(page)
          if (by > 0) wrong.push(`${name} at ${width}: the page by ${by} px, ${await widest(page)}`)
          wrong.push(...(await faultsOf(page)).map(fault => `${name} at ${width}: ${fault}`))
          if (width === 1_024) await page.screenshot({ path: join(shots, `${name}-1024.png`) })
        }
      }
      expect(wrong).toEqual([])
    },
  )

  it('N6: says in the words of the service why it refuses, and leads out', async () => {
    await world.open(page, '/runs?since=yesterday&status=failed')
    const alert = page.locator('.problem')
    await alert.getByText('since', { exact: true }).waitFor()
    const rule = await world.call('GET', '/runs?since=yesterday').then(
      () => '',
      (error: Error) => JSON.parse(error.message.slice(error.message.indexOf('{'))),
    )
    const [problem] = (rule as { errors: { rule: string }[] }).errors
    expect(await alert.innerText()).toContain(problem!.rule)
    await alert.getByRole('link', { name: 'Reset since' }).click()
    await page.waitForURL(url => url.searchParams.get('since') === null)
    expect(new URL(page.url()).searchParams.get('status')).toBe('failed')
    await page.getByRole('table', { name: 'Runs' }).waitFor()
  })

  it('N2: the numbers of the last day lead to as many rows', async () => {
    await world.open(page, '/')
    for (const name of ['completed', 'failed']) {
      const link = page.locator('.tile.day').getByRole('link', { name: new RegExp(`\\d ${name}$`) })
      await link.waitFor()
      const address = new URL((await link.getAttribute('href'))!, world.address)
      const count = Number((await link.locator('.tile-value').innerText()).replaceAll(/\D/g, ''))
      expect(await rowsOf(world, address.searchParams)).toBe(count)
    }
  })
})

/** Every row of a list of runs, page by page. */
async function rowsOf(world: World, query: URLSearchParams): Promise<number> {
  let [rows, cursor] = [0, null as string | null]
  do {
    const asked = new URLSearchParams({ ...Object.fromEntries(query), limit: '250' })
    if (cursor !== null) asked.set('cursor', cursor)
    interface Answer {
      readonly runs: readonly unknown[]
      readonly next_cursor: string | null
    }
    const answer: Answer = await world.call<Answer>('GET', `/runs?${asked.toString()}`)
    rows += answer.runs.length
    cursor = answer.next_cursor
  } while (cursor !== null)
  return rows
}

/** What sticks out furthest. */
function widest(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const out = [...document.querySelectorAll('main *')].sort(
      (a, b) => b.getBoundingClientRect().right - a.getBoundingClientRect().right,
    )[0]
    return out.tagName + '.' + out.className + ' in ' + out.parentElement.className
  })()`)
}

/** Tables that scroll, and names that have hardly any room. */
function faultsOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const wide = [...document.querySelectorAll('.table-frame')]
      .filter(frame => frame.scrollWidth > frame.clientWidth + 1)
      .map(frame => 'a table by ' + (frame.scrollWidth - frame.clientWidth) + ' px')
    const thin = [...document.querySelectorAll('td.main, .job-link')]
      .filter(name => name.textContent.length > 8 && name.clientHeight > 0)
      .filter(name => name.getBoundingClientRect().width < 64)
      .map(name => 'a name in ' + Math.round(name.getBoundingClientRect().width) + ' px')
    return [...wide, ...thin]
  })()`)
}
