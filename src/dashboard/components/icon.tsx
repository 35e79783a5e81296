// The few pictures of the frame and of buttons, drawn as lines on 20 × 20.

const drawings = {
  overview: 'M3 10.5L10 4l7 6.5M5 9v7h10V9M8.5 16v-4h3v4',
  jobs: 'M4 5h12M4 10h12M4 15h8',
  runs: 'M3 10h3l2-5 4 10 2-5h3',
  timeline: 'M3 5h8M6 10h9M4 15h6',
  tenants:
    'M7 9a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM2.5 16c.5-3 2.2-4.5 4.5-4.5s4 1.5 4.5 4.5' +
    'M13.5 9a2 2 0 1 0 0-4M14 11.5c2 .3 3.2 1.8 3.5 4.5',
  sources:
    'M4 6c0-1.4 2.7-2.5 6-2.5s6 1.1 6 2.5-2.7 2.5-6 2.5S4 7.4 4 6zm0 0v8c0 1.4 2.7' +
    ' 2.5 6 2.5s6-1.1 6-2.5V6M4 10c0 1.4 2.7 2.5 6 2.5s6-1.1 6-2.5',
  workflows: 'M3 4h5v4H3zM12 12h5v4h-5zM12 4h5v4h-5zM8 6h4M14.5 8v4',
  system: 'M3 4h14v5H3zM3 11h14v5H3zM6 6.5h.01M6 13.5h.01',
  cron: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4l3 2',
  audit: 'M6 3h6l3 3v11H6zM8.5 9h4M8.5 12h4',
  search: 'M9 14a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM13 13l4 4',
  menu: 'M3 5h14M3 10h14M3 15h14',
  close: 'M5 5l10 10M15 5L5 15',
  sun:
    'M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.4 1.4' +
    'M14.3 14.3l1.4 1.4M4.3 15.7l1.4-1.4M14.3 5.7l1.4-1.4',
  moon: 'M16 12.5A6.5 6.5 0 0 1 7.5 4a6.5 6.5 0 1 0 8.5 8.5z',
  system_theme: 'M3 4h14v9H3zM7 17h6M10 13v4',
  play: 'M6 4l10 6-10 6z',
  pause: 'M7 4v12M13 4v12',
  // A bar and a triangle: on from where it was held, unlike a single run.
  resume: 'M4.5 4v12M8.5 4l8 6-8 6z',
  edit: 'M4 16l.8-3.5L13 4.3l2.7 2.7-8.2 8.2zM11.5 5.8l2.7 2.7',
  more: 'M4.2 10h.8M9.6 10h.8M15 10h.8',
  plus: 'M10 4v12M4 10h12',
  trash: 'M4 6h12M8 6V4h4v2M5.5 6l.8 10h7.4l.8-10',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  out: 'M8 4H4v12h4M12 6l4 4-4 4M16 10H8',
  down: 'M5 8l5 5 5-5',
  up: 'M5 12l5-5 5 5',
  why:
    'M7.5 7.5a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8M10 14.5h.01' +
    'M10 18a8 8 0 1 0 0-16 8 8 0 0 0 0 16z',
  retry: 'M16 10a6 6 0 1 1-2-4.5M16 3v3.5h-3.5',
  stop: 'M6 6h8v8H6z',
  bell:
    'M10 3v1.5M5.5 14c.8-1 1-2.5 1-4.5a3.5 3.5 0 0 1 7 0c0 2 .2 3.5 1 4.5z' +
    'M8.5 16.5a1.7 1.7 0 0 0 3 0',
  back: 'M12 5l-5 5 5 5',
  next: 'M8 5l5 5-5 5',
  warn: 'M10 3.5l7 12.5H3zM10 8.5v3.5M10 14h.01',
  filter: 'M3 5h14l-5.5 6v5l-3-1.5V11z',
} as const

export type IconName = keyof typeof drawings

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={drawings[name]} />
    </svg>
  )
}
