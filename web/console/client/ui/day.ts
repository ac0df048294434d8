/** Start of a day in the browser's time zone. @param more days later */
export const startOfDay = (day: string, more = 0): string | undefined => {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const at = new Date(year, month - 1, date + more)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
