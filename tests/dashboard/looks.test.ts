// Every page as people see it: light and dark, wide and narrow, by axe, with text that wants to be
// markup in every field, and by the keyboard alone. Screenshots of all of it go to `shots`.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { paths } from '../../src/dashboard/paths.ts'
import { eventually } from '../support/servers/wait.ts'
import {
  expectAddress,
  axe,
  findBrowser,
  loaded,
  openWorld,
  overflow,
  payloads,
  type Job,
  type World,
} from './world.ts'

const found = findBrowser()
const shots = fileURLToPath(new URL('shots/', import.meta.url))

/** Ids for the pages of one thing, filled in when the world is there. */
const known: Record<string, string> = {}

const looks = [
  { name: 'light', colorScheme: 'light', width: 1280, isRead: true },
  { name: 'dark', colorScheme: 'dark', width: 1280, isRead: false },
  { name: 'light-narrow', colorScheme: 'light', width: 320, isRead: false },
  // Both themes and both shapes are read by axe: the other two are made of the same.
  { name: 'dark-narrow', colorScheme: 'dark', width: 320, isRead: true },
] as const

async function fill(world: World): Promise<void> {
  const text = payloads.join(' ')
  const hostile = await world.make({
    name: text,
    tags: [...payloads],
    payload: { text },
    metadata: { [payloads[0]]: text },
    queue: payloads[0],
    user_id: payloads[0],
    trigger: { cron: '30 2 * * *', timezone: 'Europe/Berlin' },
  })
  await world.call('POST', `/jobs/${hostile.id}/pause`, { note: text })
  const failing = await world.make({
    name: `fails ${text}`,
    handler: 'work.hostile',
    trigger: { at: new Date().toISOString() },
    retry: { limit: 0 },
  })
  await world.make({ name: 'named.hostile', handler: payloads[0], trigger: { manual: true } })
  await world.make({
    name: 'hooks',
    action: { kind: 'http', url: `https://example.com/?q=${encodeURIComponent(text)}` },
  })
  const digest = await world.make({
    name: 'email.digest',
    trigger: { cron: '0 7 * * 1-5', timezone: 'Europe/Berlin' },
    payload: { segment: 'all' },
    tags: ['mail'],
  })
  for (let n = 0; n < 3; n++) await world.call('POST', `/jobs/${digest.id}/run`)
  const slow = await world.make({ name: 'report.quarterly', handler: 'work.slow', tenant: 'beta' })
  await world.call('POST', `/jobs/${slow.id}/run`)
  await eventually('the hostile error is stored', async () => {
    const job = await world.call<Job>('GET', `/jobs/${failing.id}`)
    return job['status'] === 'failed' ? true : null
  })
  known['hostile'] = hostile.id
  known['failing'] = failing.id
  const { runs } = await world.call<{ runs: { id: string }[] }>('GET', `/runs?job=${failing.id}`)
  known['run'] = runs[0]!.id
  known['job'] = digest.id
}

/** A path with ids that are there; null where there is nothing to show. */
function addressOf(name: string, pattern: string): string | null {
  if (!pattern.includes(':')) return pattern
  const id = name === 'editJob' ? known['job'] : known[name]
  return id === undefined ? null : pattern.replace(/:\w+/, encodeURIComponent(id))
}

describe.runIf('path' in found)('how the dashboard looks', () => {
  let world: World
  let page: Page

  beforeAll(async () => {
    mkdirSync(shots, { recursive: true })
    world = await openWorld((found as { path: string }).path)
    await fill(world)
    page = await world.signIn()
  })

  afterAll(() => world?.end())

  const elsewhere = ['workflow', 'source', 'newWorkflow', 'editWorkflow', 'newSource', 'editSource']
  const pages = Object.entries(paths).filter(([name]) => !elsewhere.includes(name))

  it.each(pages)('%s fits, reads and stays inert in every look', async (name, pattern) => {
    const address = addressOf(name, pattern)!
    for (const look of looks) {
      await page.setViewportSize({ width: look.width, height: look.width === 320 ? 720 : 860 })
      await page.emulateMedia({ colorScheme: look.colorScheme, reducedMotion: 'reduce' })
      await page.goto(world.address + address)
      await loaded(page)
      await page.screenshot({ path: join(shots, `${name}-${look.name}.png`), fullPage: true })
      expect(await overflow(page), `${name} ${look.name} is too wide`).toBeLessThanOrEqual(0)
      if (look.isRead) expect(await axe(page), `${name} ${look.name}`).toEqual([])
    }
  })

  it.each(['hostile', 'failing'])('a job full of markup is shown as text (%s)', async which => {
    await page.setViewportSize({ width: 1280, height: 860 })
    await page.goto(`${world.address}/jobs/${known[which]}`)
    await loaded(page)
    await page.getByRole('button', { name: 'Why?' }).click()
    await page.getByRole('dialog').locator('.verdict').waitFor()
    expect(await page.evaluate('window.hit')).toBeUndefined()
    expect(await page.locator('img, iframe, main script, main svg[onload]').count()).toBe(0)
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0)
    await page.screenshot({ path: join(shots, `why-${which}.png`) })
  })

  it('dialogs and the palette read as well, in both themes', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.goto(`${world.address}/jobs/${known['job']}`)
      await loaded(page)
      for (const name of ['Run now', 'Pause', 'Why?']) {
        await page.getByRole('button', { name, exact: true }).click()
        await page.getByRole('dialog').waitFor()
        expect(await axe(page), `${name} ${colorScheme}`).toEqual([])
        await page.screenshot({
          path: join(shots, `dialog-${name.replaceAll(/\W/g, '')}-${colorScheme}.png`),
        })
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('email')
      await page.getByRole('option', { name: /email\.digest/ }).waitFor()
      expect(await axe(page), `palette ${colorScheme}`).toEqual([])
      await page.screenshot({ path: join(shots, `palette-${colorScheme}.png`) })
      await page.keyboard.press('Escape')
    }
  })

  it('can be used by the keyboard alone', async () => {
    await page.goto(world.address)
    await loaded(page)
    await page.keyboard.press('g')
    await page.keyboard.press('j')
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor()
    await loaded(page)
    await page.keyboard.press('/')
    await page.keyboard.type('email.digest')
    await page.getByText('1 found').waitFor()
    // Out of the field, down to the only row, and what its letters do.
    await page.keyboard.press('Tab')
    await page.keyboard.press('j')
    await page.keyboard.press('r')
    await page.getByRole('dialog', { name: 'Run email.digest' }).waitFor()
    for (let n = 0; n < 12; n++) {
      await page.keyboard.press('Tab')
      const isInside =
        "document.querySelector('dialog').contains(document.activeElement) || " +
        'document.activeElement === document.body'
      expect(await page.evaluate(isInside)).toBe(true)
    }
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.evaluate('document.activeElement.textContent')).toBe('email.digest')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: /email\.digest/ }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('report')
    await page.getByRole('option', { name: /report\.quarterly/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: /report\.quarterly/ }).waitFor()
  })

  it('shows times in your zone, the zone of the job or UTC, and the address keeps it', async () => {
    await page.goto(`${world.address}/jobs/${known['job']}`)
    await loaded(page)
    await page.getByRole('button', { name: 'Show times in' }).click()
    await page.getByRole('menuitem', { name: 'UTC' }).click()
    await page.locator('.next-run', { hasText: 'UTC' }).waitFor()
    await expectAddress(page, 'zone', 'utc')
    await page.keyboard.press('z')
    await page.locator('.next-run', { hasText: /CES?T/ }).waitFor()
    await expectAddress(page, 'zone', null)
  })

  it('keeps a chosen theme, and did nothing the browser complained about', async () => {
    await page.emulateMedia({ colorScheme: 'light' })
    await page.getByRole('button', { name: 'Theme' }).click()
    await page.getByRole('menuitem', { name: 'Dark' }).click()
    await page.reload()
    await loaded(page)
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe(
      'dark',
    )
    expect(world.complaints).toEqual([])
  })
})
