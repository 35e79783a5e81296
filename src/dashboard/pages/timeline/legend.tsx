// What the colours and forms of the timeline mean.

export function Legend() {
  const looks = [
    ['s-ok', 'completed'],
    ['s-failed', 'failed'],
    ['s-running', 'running'],
    ['s-cancel', 'cancelled'],
  ] as const
  return (
    <ul class="legend dim small" aria-label="Legend">
      {looks.map(([look, text]) => (
        <li key={look}>
          <svg class="swatch gantt-key" viewBox="0 0 14 10" aria-hidden="true">
            <rect class={`bar ${look}`} width="14" height="10" rx="2" />
          </svg>
          {text}
        </li>
      ))}
      <li>
        <svg class="swatch gantt-key" viewBox="0 0 14 10" aria-hidden="true">
          <g class="coming">
            <rect x="0.5" y="0.5" width="13" height="9" rx="2" />
          </g>
        </svg>
        to come, as long as usual
      </li>
      <li>
        <svg class="swatch gantt-key" viewBox="0 0 14 10" aria-hidden="true">
          <line class="wait" x1="0" x2="14" y1="5" y2="5" />
        </svg>
        waited
      </li>
      <li>Drag to look closer; + − ← → 0 on the keyboard.</li>
    </ul>
  )
}
