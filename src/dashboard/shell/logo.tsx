// The mark: a bell. Also the icon of the tab, in the colour of the environment.

import { environment } from '../href.ts'

const BELL =
  'M16 3.5a2 2 0 0 1 2 2v.7c4 .9 6.6 4.3 6.6 8.8 0 4.6 1 6.7 2.6 8.3.6.6.2 1.7-.7 1.7' +
  'H5.5c-.9 0-1.3-1.1-.7-1.7 1.6-1.6 2.6-3.7 2.6-8.3 0-4.5 2.6-7.9 6.6-8.8v-.7' +
  'a2 2 0 0 1 2-2zM12.5 26.5h7a3.5 3.5 0 0 1-7 0z'

export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
      <path d={BELL} />
    </svg>
  )
}

export type EnvironmentKind = 'prod' | 'stage' | 'dev' | 'other'

export const environmentKind: EnvironmentKind = /^(?:prod|live)/i.test(environment)
  ? 'prod'
  : /^(?:stag|test|qa|uat|pre)/i.test(environment)
    ? 'stage'
    : /^(?:dev|local)/i.test(environment)
      ? 'dev'
      : 'other'

const colours: Readonly<Record<EnvironmentKind, string>> = {
  prod: '#c2410c',
  stage: '#a16207',
  dev: '#15803d',
  other: '#b7791f',
}

export function setFavicon(): void {
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">` +
    `<path fill="${colours[environmentKind]}" d="${BELL}"/></svg>`
  const link = document.createElement('link')
  link.rel = 'icon'
  link.href = `data:image/svg+xml,${encodeURIComponent(svg)}`
  document.head.append(link)
}
