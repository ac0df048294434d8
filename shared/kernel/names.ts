/**
 * Characters that no name may contain: controls, line breaks, direction controls and everything that is invisible by
 * default (Unicode TR 36 §2.8, UTS 39 §5.4). They would let a name end a line, reorder its neighbours or equal another
 * name on screen.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u

/** Emoji sequences, which contain joiners and variation selectors. */
const EMOJI = String.raw`\p{RGI_Emoji}`

/** Non-joiners and joiners where a script needs them to spell (RFC 5892 A.1, A.2): Arabic letters, Indic viramas. */
const ARABIC = String.raw`[\p{Script=Arabic}\p{Script=Syriac}]`
const VIRAMA = String.raw`[\u{94D}\u{9CD}\u{A4D}\u{ACD}\u{B4D}\u{BCD}\u{C4D}\u{CCD}\u{D4D}\u{DCA}]`
const SPELLING = String.raw`(?<=${ARABIC}\p{M}*)\u{200C}(?=${ARABIC})|(?<=${VIRAMA})[\u{200C}\u{200D}]`

let parts: RegExp | undefined

/**
 * Returns an expression that matches what may stay as the first group, else one hidden character. It is compiled at its first
 * use: the emoji alone take 25 ms, which would be a third of a cold start.
 */
const partsOf = (): RegExp => {
  parts ??= new RegExp(`(${EMOJI}|${SPELLING})|${HIDDEN.source}`, 'gv')
  return parts
}

/** Something that shows ink. U+2800 is a symbol that looks like a space. */
const VISIBLE = /[^\p{Z}\p{M}\u{2800}]/u

/** Returns the first character of a name that isn't allowed in one, as `U+202E`. */
export const findHiddenCharacter = (name: string): string | undefined => {
  if (!HIDDEN.test(name)) return undefined
  for (const [character, kept] of name.matchAll(partsOf())) {
    if (kept === undefined) return `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`
  }
  return undefined
}

/** Reports whether a reader can see a text at all. */
export const isVisible = (text: string): boolean => VISIBLE.test(text.replaceAll(new RegExp(HIDDEN, 'gu'), ''))

/**
 * Cleans a name from outside into one line. Returns '' if nothing visible remains.
 * @param max most characters to keep
 */
export const cleanName = (name: string, max = 200): string => {
  const line = name.toWellFormed().normalize('NFC').replaceAll(/\s+/g, ' ')
  const clean = HIDDEN.test(line) ? line.replaceAll(partsOf(), (_, kept?: string) => kept ?? '') : line
  return isVisible(clean) ? [...clean.trim()].slice(0, max).join('').trim() : ''
}

/**
 * Quotes a name for a sentence of the platform. Quotation marks inside it become apostrophes, so that a reader sees where
 * the name ends.
 */
export const quoteName = (name: string): string => {
  const clean = cleanName(name, QUOTED + 1)
  const cut = [...clean].length > QUOTED ? `${[...clean].slice(0, QUOTED).join('')}…` : clean
  return `“${cut.replaceAll(/["“”„‟«»＂〝〞]/g, '’')}”`
}

/** Most characters of a quoted name. */
const QUOTED = 120

/** Cleans a text of several lines from an agent or a person. Line breaks stay; hidden characters go. */
export const cleanText = (text: string): string =>
  text
    .toWellFormed()
    .split(/\r\n|[\n\r\v\f\u{85}\u{2028}\u{2029}]/u)
    .map((line) =>
      HIDDEN.test(line)
        ? line.replaceAll(partsOf(), (hidden, kept?: string) => kept ?? (hidden === '\t' ? ' ' : ''))
        : line,
    )
    .join('\n')
