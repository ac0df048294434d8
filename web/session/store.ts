/** Fallback for browsers that block storage, as in framed pages and private windows. Lasts as long as the page. */
const memory = new Map<string, string>()

export const loadItem = <T>(key: string): T | undefined => {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? memory.get(key) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

export const saveItem = (key: string, value: unknown): void => {
  const text = JSON.stringify(value)
  memory.set(key, text)
  try {
    sessionStorage.setItem(key, text)
  } catch {}
}

export const removeItem = (key: string): void => {
  memory.delete(key)
  try {
    sessionStorage.removeItem(key)
  } catch {}
}
