// The dashboard as a whole: who is looking, then the frame with the page the address names.

import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from 'preact-iso'
import { useEffect, useState } from 'preact/hooks'
import { isLivePaused, startLive, toggleLive } from '../data/live.ts'
import { isSignedOut } from '../data/api.ts'
import { isAdmin, isSessionKnown, openSession, session, signOut } from '../data/session.ts'
import { act } from '../data/act.ts'
import { pages } from '../pages.ts'
import { Empty } from '../components/conditions.tsx'
import { Page } from '../components/page.tsx'
import { paths } from '../paths.ts'
import { base, href } from '../href.ts'
import { nextTheme, nextZone, zoneChoice } from '../view.ts'
import { Frame } from './frame.tsx'
import { Help } from './help.tsx'
import { listenToKeys, useKeys, type KeyMap } from './keys.ts'
import { Palette, type Command } from './palette.tsx'
import { SignIn } from './sign-in.tsx'

/** Only addresses of pages are followed here; the rest belongs to the browser. */
const firsts = [...new Set(Object.values(paths).map(path => path.split('/')[1]!))].filter(Boolean)
const scope = new RegExp(`^${base}(?:/(?:${firsts.join('|')}))?(?:$|[/?])`)

export function App() {
  useEffect(() => {
    void openSession()
  }, [])
  if (!isSessionKnown.value) return null
  if (session.value === null || isSignedOut.value) return <SignIn />
  return (
    <LocationProvider scope={scope}>
      <SignedIn />
    </LocationProvider>
  )
}

function SignedIn() {
  const [open, setOpen] = useState<'palette' | 'help' | null>(null)
  const { route } = useLocation()
  useEffect(startLive, [])
  useEffect(() => listenToKeys(() => setOpen('palette')), [])
  useZoneInAddress()
  useKeys(frameKeys(route, () => setOpen('help')))
  // A browser tells of a closed dialog a little later: by then another may be open.
  const close = (which: typeof open) => () => setOpen(now => (now === which ? null : now))
  return (
    <Frame openPalette={() => setOpen('palette')} openHelp={() => setOpen('help')}>
      <ErrorBoundary>
        <Router onLoadStart={() => {}}>
          {pages.map(({ name, component }) => (
            <Route key={name} path={base + paths[name]} component={component} />
          ))}
          <Route default component={NoPage} />
        </Router>
      </ErrorBoundary>
      {open === 'palette' && <Palette commands={commandsOf(route)} onClose={close('palette')} />}
      {open === 'help' && <Help onClose={close('help')} />}
    </Frame>
  )
}

/** A link shows times as its sender saw them. */
function useZoneInAddress(): void {
  const { url, query, route } = useLocation()
  const zone = zoneChoice.value
  useEffect(() => {
    const wanted = zone === 'local' ? undefined : zone
    if (query.zone === wanted) return
    const next = new URL(url, location.origin)
    if (wanted === undefined) next.searchParams.delete('zone')
    else next.searchParams.set('zone', wanted)
    route(next.pathname + next.search, true)
  }, [zone, url])
}

type Go = (path: string) => void

function frameKeys(route: Go, openHelp: () => void): KeyMap {
  const going = pages.flatMap(({ name, nav }) =>
    nav === undefined
      ? []
      : [[`g ${nav.key}`, { label: nav.label, act: () => route(href(paths[name])) }] as const],
  )
  return {
    ...Object.fromEntries(going),
    z: { label: 'Next zone', act: nextZone },
    '.': { label: 'Pause or go on with live updates', act: toggleLive },
    '?': { label: 'This help', act: openHelp },
  }
}

const newThings = [
  ['newJob', 'New job'],
  ['newWorkflow', 'New workflow'],
  ['newSource', 'New source'],
] as const

function commandsOf(route: Go): Command[] {
  const going = pages.flatMap(({ name, nav }): Command[] =>
    nav === undefined
      ? []
      : [
          {
            key: name,
            label: nav.label,
            about: 'page',
            icon: nav.icon,
            act: () => route(href(paths[name])),
          },
        ],
  )
  const made = newThings.map(([name, label]): Command => ({
    key: name,
    label,
    about: 'action',
    icon: 'plus',
    act: () => route(href(paths[name])),
  }))
  return [
    ...going,
    ...(isAdmin.value ? made : []),
    { key: 'theme', label: 'Next theme', about: 'action', icon: 'sun', act: nextTheme },
    { key: 'zone', label: 'Next zone', about: 'action', icon: 'cron', act: nextZone },
    {
      key: 'live',
      label: isLivePaused.value ? 'Go on with live updates' : 'Pause live updates',
      about: 'action',
      icon: 'runs',
      act: toggleLive,
    },
    { key: 'out', label: 'Sign out', about: 'action', icon: 'out', act: () => void act(signOut) },
  ]
}

function NoPage() {
  return (
    <Page title="No such page">
      <Empty title="There is no such page" actions={<a href={href('/')}>Overview</a>} />
    </Page>
  )
}
