/** A person's choices for this browser. Without them, a page follows the system's theme in comfortable density. */
export interface Appearance {
  theme?: 'light' | 'dark'
  density?: 'compact'
}

const KEY = 'appearance'

/** Reads the choice. A browser that blocks storage has none. */
export const loadAppearance = (): Appearance => {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}')
  } catch {
    return {}
  }
}

/** Shows a choice on this page. */
export const applyAppearance = ({ theme, density }: Appearance = loadAppearance()): void => {
  const { dataset } = document.documentElement
  if (theme === 'light' || theme === 'dark') dataset.scheme = theme
  else delete dataset.scheme
  if (density === 'compact') dataset.density = density
  else delete dataset.density
}

/** Keeps a choice, and shows it on this page. Other open pages of this browser follow. */
export const saveAppearance = (chosen: Appearance): void => {
  try {
    localStorage.setItem(KEY, JSON.stringify(chosen))
  } catch {}
  applyAppearance(chosen)
}

/** Follows a choice that is made on another page of this browser. */
export const followAppearance = (): void =>
  addEventListener('storage', ({ key }) => {
    if (key === KEY) applyAppearance()
  })
