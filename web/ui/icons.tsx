/** Line drawings on a 24×24 grid. Icons always accompany text and never replace it. */
const PATHS = {
  home: 'M4 11l8-7 8 7v9h-5v-6H9v6H4z',
  chat: 'M4 5h16v11H9l-5 4z',
  tasks: 'M4 5h4v14H4zM10 5h4v9h-4zM16 5h4v11h-4z',
  agents: 'M8 8h8v8H8zM12 4v4M12 16v4M4 12h4M16 12h4M6 4h12v16H6z',
  store: 'M4 9h16l-1.5-5h-13zM5 9v11h14V9M10 20v-6h4v6',
  runs: 'M7 5l11 7-11 7z',
  files: 'M4 6h6l2 2h8v11H4z',
  messenger: 'M3 12l18-8-4 16-5-5zM12 15l5-9',
  bell: 'M6 17V11a6 6 0 0112 0v6l2 1H4zM10 21h4',
  key: 'M14 10a4 4 0 10-3.5 4L13 16h3v3h3v-4l-5-4z',
  star: 'M12 4l2.5 5.2 5.5.8-4 4 1 5.6-5-2.7-5 2.7 1-5.6-4-4 5.5-.8z',
  settings:
    'M12 9a3 3 0 100 6 3 3 0 000-6zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.1 2.1M16.3 16.3l2.1 2.1M18.4 5.6l-2.1 2.1M7.7 16.3l-2.1 2.1',
  audit: 'M6 3h9l4 4v14H6zM9 11h7M9 15h7M9 7h3',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  search: 'M11 18a7 7 0 100-14 7 7 0 000 14zM16 16l5 5',
  chart: 'M4 20V10M10 20V4M16 20v-8M21 20H3',
  people: 'M9 11a3 3 0 100-6 3 3 0 000 6zM3 19a6 6 0 0112 0M15 5.5a3 3 0 010 5.5M17.5 14.2A6 6 0 0121 19',
  attach: 'M8 12l5-5a3 3 0 014 4l-7 7a5 5 0 01-7-7l7-7',
  wish: 'M9 18h6M10 21h4M12 3a6 6 0 014 10.5V16H8v-2.5A6 6 0 0112 3z',
  flag: 'M6 21V4h11l-2 4 2 4H6',
  shield: 'M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6z',
  pulse: 'M3 12h4l3-7 4 14 3-7h4',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  building: 'M5 21V4h9v17M14 9h5v12M3 21h18M8 8h3M8 12h3M8 16h3',
} as const

export type IconName = keyof typeof PATHS

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false">
    <path
      d={PATHS[name]}
      fill="none"
      stroke="currentColor"
      stroke-width="1.8"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  </svg>
)
