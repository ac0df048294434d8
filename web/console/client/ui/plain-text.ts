/** Lines that only draw: fences, rules, and the dividers of tables. */
const DRAWN = /^ {0,3}(?:(?:`{3,}|~{3,}).*|(?:[-*_]\s*){3,}|\|?\s*:?-+:?\s*(?:\|\s*:?-*:?\s*)*)$/gm

/** Marks at the beginning of a line: of quotes, headings, list items and tasks. */
const LEADING = /^\s*(?:(?:>|#{1,6}(?=\s)|[-*+](?=\s)|\d{1,9}[.)](?=\s))\s*)+(?:\[[ xX]\]\s+)?/gm

/** Most characters that a line shows. */
const MOST = 2_000

/** Markdown as a line of plain text, for titles, cards and previews. */
export const plainText = (markdown: string): string =>
  markdown
    .slice(0, MOST)
    .replaceAll(DRAWN, '')
    .replaceAll(/^ *\|(.*)$/gm, (_, row: string) => row.trimEnd().replace(/\|$/, '').replaceAll(' | ', ' · '))
    .replaceAll(LEADING, '')
    .replaceAll(/!?\[([^\]\n]+)\]\([^\s()]*\)/g, '$1')
    .replaceAll(/(\*\*|~~|`)(?=\S)(.+?)\1/g, '$2')
    .replaceAll(/(?<![\w*])\*(?=[^\s*])([^*\n]+?)\*(?![\w*])|(?<!\w)_(?=[^\s_])([^_\n]+?)_(?!\w)/g, '$1$2')
    .replaceAll(/\s+/g, ' ')
    .trim()
