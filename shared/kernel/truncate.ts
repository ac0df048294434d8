/** Returns at most the first `characters` UTF-16 units of a well-formed text, without splitting a surrogate pair. */
export const truncate = (text: string, characters: number): string => {
  const cut = text.slice(0, characters)
  return cut.isWellFormed() ? cut : cut.slice(0, -1)
}
