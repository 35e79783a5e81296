// The frame around every page: navigation, search, how fresh things are, zone, theme, who is here.

import { useLocation } from 'preact-iso'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { second } from '../clock.ts'
import { session, signOut } from '../data/session.ts'
import { act } from '../data/act.ts'
import { pages } from '../pages.ts'
import { momentText } from '../components/format.ts'
import { Icon, type IconName } from '../components/icon.tsx'
import { Menu, type MenuItem } from '../components/menu.tsx'
import { Key } from '../components/key.tsx'
import { Toasts } from '../components/toasts.tsx'
import { paths } from '../paths.ts'
import { environment, href, version } from '../href.ts'
import { localZone, theme, zoneChoice, zoneFor, type Theme, type ZoneChoice } from '../view.ts'
import { LivePill, TickPill } from './live-pill.tsx'
import { environmentKind, Logo } from './logo.tsx'

interface FrameProps {
  readonly children: ComponentChildren
  readonly openPalette: () => void
  readonly openHelp: () => void
}

export function Frame({ children, openPalette, openHelp }: FrameProps) {
  const { path } = useLocation()
  const main = useRef<HTMLElement>(null)
  const [isNavOpen, setNavOpen] = useState(false)
  const isFirst = useRef(true)
  useEffect(() => {
    setNavOpen(false)
    // The first page has the focus where the browser puts it.
    if (!isFirst.current) main.current?.focus()
    isFirst.current = false
  }, [path])
  return (
    <div class={`frame${isNavOpen ? ' nav-open' : ''}`}>
      <a class="skip-link" href="#main">
        Skip to the page
      </a>
      <aside class="side" id="side">
        <Brand />
        <Nav path={path} />
        <div class="side-foot">
          <ZoneMenu />
          <ThemeMenu />
          <WhoMenu openHelp={openHelp} />
        </div>
      </aside>
      <header class="top">
        <button
          type="button"
          class="bare nav-button"
          aria-label="Navigation"
          aria-expanded={isNavOpen}
          aria-controls="side"
          onClick={() => setNavOpen(!isNavOpen)}
        >
          <Icon name={isNavOpen ? 'close' : 'menu'} />
        </button>
        <button type="button" class="search-button" onClick={openPalette}>
          <Icon name="search" />
          <span class="grow">Search or go to…</span>
          <Key>⌘K</Key>
        </button>
        <div class="pills">
          <LivePill />
          <TickPill />
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
      <Toasts />
    </div>
  )
}

function Brand() {
  return (
    <div class="brand">
      <a href={href('/')}>
        <Logo />
        <span>Carillon</span>
      </a>
      {environment !== '' && <span class={`environment e-${environmentKind}`}>{environment}</span>}
    </div>
  )
}

function Nav({ path }: { readonly path: string }) {
  return (
    <nav aria-label="Pages">
      {pages.map(({ name, nav }) => {
        if (nav === undefined) return null
        const target = href(paths[name])
        const isHere = path === target || (name !== 'overview' && path.startsWith(`${target}/`))
        return (
          <a key={name} href={target} aria-current={isHere ? 'page' : undefined}>
            <Icon name={nav.icon} />
            {nav.label}
          </a>
        )
      })}
    </nav>
  )
}

const zoneLabels: Readonly<Record<ZoneChoice, string>> = {
  local: `Your time (${localZone})`,
  job: "Each job's zone",
  utc: 'UTC',
}

function ZoneMenu() {
  const items = (Object.keys(zoneLabels) as ZoneChoice[]).map((choice): MenuItem => ({
    label: zoneLabels[choice],
    isCurrent: zoneChoice.value === choice,
    onSelect: () => {
      zoneChoice.value = choice
    },
  }))
  const zone = zoneChoice.value === 'job' ? localZone : zoneFor(null)
  const now = second.value
  return (
    <Menu
      name="Show times in"
      look="side-button"
      label={
        <>
          <Icon name="cron" />
          <span class="cut-text">
            {zoneChoice.value === 'job' ? zoneLabels.job : momentText(now, { zone, now })}
          </span>
        </>
      }
      items={items}
      note="Changes display only; schedules keep their own zone."
    />
  )
}

const themeLooks: Readonly<Record<Theme, readonly [IconName, string]>> = {
  system: ['system_theme', 'As the system'],
  dark: ['moon', 'Dark'],
  light: ['sun', 'Light'],
}

function ThemeMenu() {
  const [icon, label] = themeLooks[theme.value]
  const items = (Object.keys(themeLooks) as Theme[]).map((choice): MenuItem => ({
    label: themeLooks[choice][1],
    isCurrent: theme.value === choice,
    onSelect: () => {
      theme.value = choice
    },
  }))
  return (
    <Menu
      name="Theme"
      look="side-button"
      label={
        <>
          <Icon name={icon} />
          <span>{label}</span>
        </>
      }
      items={items}
    />
  )
}

function WhoMenu({ openHelp }: { readonly openHelp: () => void }) {
  const who = session.value
  if (who === null) return null
  const tenant = who.tenant === '*' ? 'every tenant' : who.tenant
  return (
    <Menu
      name="Account"
      look="side-button"
      label={
        <>
          <span class="avatar">{who.sub.slice(0, 1).toUpperCase()}</span>
          <span class="cut-text">
            {who.sub} <span class="dim">{who.role}</span>
          </span>
        </>
      }
      items={[
        { label: 'Keyboard', onSelect: openHelp },
        { label: 'Sign out', onSelect: () => void act(signOut) },
      ]}
      note={`${who.role} of ${tenant} · Carillon ${version}`}
    />
  )
}
