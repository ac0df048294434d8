/** The beginning of a well-formed text: at most so many characters (UTF-16 units, as JavaScript counts), none of them half. */
export const beginning = (text: string, characters: number): string => {
  const cut = text.slice(0, characters)
  return cut.isWellFormed() ? cut : cut.slice(0, -1)
}
