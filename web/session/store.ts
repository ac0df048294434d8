/** Where storage is refused (a framed page, a private window), what is kept lasts as long as the page. */
const memory = new Map<string, string>()

export const read = <T>(key: string): T | undefined => {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? memory.get(key) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

export const keep = (key: string, value: unknown): void => {
  const text = JSON.stringify(value)
  memory.set(key, text)
  try {
    sessionStorage.setItem(key, text)
  } catch {}
}

export const forget = (key: string): void => {
  memory.delete(key)
  try {
    sessionStorage.removeItem(key)
  } catch {}
}
