// Bars as SVG: one for each contender, its range as a line, its figure beside it.

import { nameOf, number, ordered } from './print.ts'
import { RAW } from './ratios.ts'
import type { Figure, Row } from './results.ts'

const WIDTH = 760
const LABELS = 230
const BARS = 400
const LINE = 26
const TOP = 44

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

function colour({ contender }: Figure): string {
  if (contender === 'carillon') return '#b8741a'
  return contender === RAW ? '#d5d2c8' : '#7d8799'
}

/** Where one is a hundred times another, a linear bar would not be seen. */
const LOG_FROM = 50

function scaleOf(figures: readonly Figure[]): { at: (value: number) => number; isLog: boolean } {
  const top = Math.max(...figures.map(({ max }) => max))
  const least = Math.min(...figures.map(({ median }) => median).filter(value => value > 0))
  if (!(top / least > LOG_FROM)) return { at: value => (value / top) * BARS, isLog: false }
  const low = Math.log10(least) - 0.3
  const high = Math.log10(top)
  const at = (value: number) =>
    value <= 0 ? 0 : Math.max(0, ((Math.log10(value) - low) / (high - low)) * BARS)
  return { at, isLog: true }
}

function bar(figure: Figure, y: number, at: (value: number) => number): string {
  const middle = y + LINE / 2 - 3
  const width = Math.max(1, at(figure.median)).toFixed(1)
  const [from, to] = [LABELS + at(figure.min), LABELS + at(figure.max)].map(x => x.toFixed(1))
  const after = LABELS + Math.max(at(figure.median), at(figure.max)) + 8
  const weight = figure.contender === 'carillon' ? ' font-weight="bold"' : ''
  return [
    `<text x="${LABELS - 10}" y="${middle + 4}" text-anchor="end"${weight}>${escape(nameOf(figure))}</text>`,
    `<rect x="${LABELS}" y="${y}" width="${width}" height="${LINE - 6}" rx="2" fill="${colour(figure)}"/>`,
    `<path d="M${from} ${middle}H${to}" stroke="#22262e" stroke-width="1.5"/>`,
    `<text x="${after.toFixed(1)}" y="${middle + 4}">${number(figure.median)}</text>`,
  ].join('\n  ')
}

export function plot(row: Row): string {
  const figures = ordered(row)
  const { at, isLog } = scaleOf(figures)
  const height = TOP + figures.length * LINE + 14
  const better = row.lowerIsBetter ? 'less is better' : 'more is better'
  const scale = isLog ? ', logarithmic' : ''
  const size = `width="${WIDTH}" height="${height}"`
  const frame = `viewBox="0 0 ${WIDTH} ${height}" role="img"`
  const font = 'font-family="system-ui, sans-serif" font-size="13" fill="#22262e"'
  const unit = `${escape(row.unit)}, ${better}${scale}`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${frame} ${font}>`,
    `  <title>${escape(row.title)}</title>`,
    `  <rect ${size} rx="6" fill="#faf9f6"/>`,
    `  <text x="16" y="26" font-size="15" font-weight="bold">${escape(row.title)}</text>`,
    `  <text x="${WIDTH - 16}" y="26" text-anchor="end" fill="#5b6270">${unit}</text>`,
    ...figures.map((figure, i) => `  ${bar(figure, TOP + i * LINE, at)}`),
    '</svg>',
    '',
  ].join('\n')
}
