// The pages about everything beside jobs and runs, over the demo: tenants, workflows, sources, the
// cron lab, the system and the audit.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/servers/wait.ts'
import {
  expectAddress,
  axe,
  findBrowser,
  openWorld,
  overflow,
  payloads,
  type World,
} from './world.ts'

const found = findBrowser()
const shots = fileURLToPath(new URL('shots/', import.meta.url))

interface Counted {
  readonly total: number
}

describe.runIf('path' in found)('the other pages of the dashboard', () => {
  let world: World
  let page: Page

  beforeAll(async () => {
    mkdirSync(shots, { recursive: true })
    world = await openWorld((found as { path: string }).path)
    page = await world.signIn()
  })

  afterAll(() => world?.end())

  const open = (path: string) => world.open(page, path)

  it('loads the demo from the empty list of jobs', async () => {
    await open('/jobs')
    await page.getByRole('button', { name: 'Load demo jobs' }).click()
    await page.getByText('The demo is loaded').waitFor()
    await page.getByRole('link', { name: 'billing.invoice' }).waitFor()
    const { total } = await world.call<Counted>('GET', '/jobs?limit=1')
    expect(total).toBe(22)
  })

  it('shows what tenants wanted and got', async () => {
    await open('/tenants')
    const table = page.getByRole('table', { name: /^What each tenant wanted and got/ })
    await table.getByRole('row', { name: /^initech/ }).waitFor()
    expect(await table.getByRole('img').first().getAttribute('aria-label')).toMatch(
      /^wanted \d.* %, got \d.* %$/,
    )
    await page.getByRole('button', { name: '24 h' }).click()
    await expectAddress(page, 'minutes', '1440')
    await page
      .getByRole('row', { name: /^globex/ })
      .last()
      .getByRole('link', { name: 'Runs' })
      .click()
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
    await expectAddress(page, 'tenant', 'globex')
  })

  it('shows a workflow with the steps of its runs, runs it and makes it inactive', async () => {
    await open('/workflows')
    await page.getByRole('link', { name: 'Orders to warehouse' }).click()
    await page.locator('.step-box.known').first().waitFor()
    expect(await page.locator('.step-list li').count()).toBe(5)
    await page
      .getByRole('link', { name: /^Show the steps of/ })
      .nth(1)
      .click()
    await eventually('the choice is in the address', () =>
      page.url().includes('run=') ? true : null,
    )
    await page.getByRole('button', { name: 'Run…' }).click()
    await page.getByRole('button', { name: 'Run once now' }).click()
    await page.getByText('Orders to warehouse runs once').waitFor()
    await page.getByRole('table', { name: 'Runs of the workflow' }).getByText('Running').waitFor()
    await page.getByRole('button', { name: 'Make inactive' }).click()
    await page.getByRole('button', { name: 'Make active' }).waitFor()
  })

  it('shows sources and fetches one', async () => {
    await open('/sources')
    await page.getByText('No domain has a limit').waitFor()
    await page
      .getByRole('row', { name: /old-catalogue/ })
      .getByText('inactive')
      .waitFor()
    await page.getByRole('link', { name: 'exchange-rates' }).click()
    await page.getByRole('button', { name: 'Fetch now' }).click()
    await page.getByText('exchange-rates runs once').waitFor()
    await page.getByRole('link', { name: 'Open as a job' }).click()
    await page.getByRole('heading', { level: 1, name: /exchange-rates/ }).waitFor()
    expect(page.url()).toContain(encodeURIComponent('source:default:exchange-rates'))
  })

  it('explains expressions, points at mistakes and compares', async () => {
    await open('/tools/cron?tz=Europe/Berlin')
    const field = page.getByLabel('Cron expression')
    await field.fill('30 2 * * *')
    await page.getByText('At 02:30 every day').waitFor()
    await page.getByRole('row').nth(10).waitFor()
    expect(await page.getByRole('columnheader').allTextContents()).toEqual(
      expect.arrayContaining(['Europe/Berlin (yours)', 'UTC', 'America/New_York']),
    )
    await page.getByText('A time in the gap runs right behind it.').waitFor()
    await page.getByLabel('Compare with').fill('0 3 * * *')
    await page.getByText('It adds 30 firings').waitFor()
    await field.fill('61 * * * *')
    await page.locator('.caret', { hasText: '^' }).waitFor()
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    await field.fill(payloads[0])
    await page.getByText('It cannot be read yet').waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    await page.getByRole('button', { name: /^Use/ }).click()
    await page.getByText('At 07:00 on Monday').waitFor()
    await expectAddress(page, 'cron', '0 7 * * MON-FRI')
    await field.fill('*/7 * * * *')
    await page.locator('.notes .note').first().waitFor()
  })

  it('tells who did what', async () => {
    await world.call('POST', '/jobs/demo-cart-cleanup/run')
    await open('/audit')
    const table = page.getByRole('table', { name: 'Audit entries' })
    await table.getByRole('row', { name: /demo\.load/ }).waitFor()
    await page.getByLabel('Only of the job with the id').fill('demo-cart-cleanup')
    await page.getByRole('button', { name: 'Apply' }).click()
    await table.getByRole('row', { name: /demo\.load/ }).waitFor({ state: 'detached' })
    await table.getByRole('row', { name: /admin@\*.*job\.run.*demo-cart-cleanup/ }).waitFor()
    await expectAddress(page, 'job', 'demo-cart-cleanup')
  })

  it.each([
    ['workflow', '/workflows/1'],
    ['source', '/sources/weather-stations'],
  ])('%s fits and reads in every look', async (name, path) => {
    for (const [look, width] of [
      ['light', 1280],
      ['dark', 320],
    ] as const) {
      await page.setViewportSize({ width, height: 820 })
      await page.emulateMedia({ colorScheme: look, reducedMotion: 'reduce' })
      await open(path)
      await page.screenshot({ path: join(shots, `${name}-${look}-${width}.png`), fullPage: true })
      expect(await overflow(page), `${name} at ${width}`).toBeLessThanOrEqual(0)
      expect(await axe(page), `${name} ${look}`).toEqual([])
    }
    await page.setViewportSize({ width: 1280, height: 860 })
  })

  it('shows the nodes, and takes the demo away again', async () => {
    await open('/system')
    await page
      .getByRole('table', { name: 'Processes that run jobs' })
      .getByText('this process')
      .waitFor()
    await page.getByRole('button', { name: 'Remove the demo' }).click()
    await page.getByText('The demo is removed').waitFor()
    const { total } = await world.call<Counted>('GET', '/jobs?limit=1')
    expect(total).toBe(0)
    expect(world.complaints).toEqual([])
  })
})
