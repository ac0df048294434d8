/** Words of the common languages that are coloured as keywords. Code is for reading here, so near enough is enough. */
const KEYWORDS = new Set(
  (
    'abstract and as async await begin bool boolean break byte case catch char class const continue create data def default del ' +
    'delete do done double echo elif else end enum esac except export extends extern false fi final finally float fn for from ' +
    'func function global go goto group if impl implements import in insert instanceof int interface into is join lambda ' +
    'let limit local long loop match mod module mut namespace new nil nonlocal none not null of on or order package pass private ' +
    'protected pub public raise readonly return select self set short static string struct super switch table then this ' +
    'throw trait true try type typeof undefined union unless unsigned update use using val values var void where while with yield'
  ).split(' '),
)

/** Comments, strings, numbers and words. A `#` begins a comment at the beginning of a line or after a space. */
const TOKEN =
  /(\/\*[\s\S]*?\*\/|<!--[\s\S]*?-->|\/\/[^\n]*|(?<=^|\s)#(?![\da-fA-F]{3,8}\b)[^\n]*|(?<=^|\s)--\s[^\n]*)|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|(\b\d[\w.]*\b)|([A-Za-z_$][\w$]*)/g

/** Languages without keywords, comments or strings of this form. */
const PLAIN = /^(text|txt|plain|log|output|console)$/i

/** Longest code that is coloured. */
const LONGEST = 20_000

/** Code with coloured comments, strings, numbers and keywords. */
export const Highlight = ({ text, language }: { text: string; language: string }) => {
  if (PLAIN.test(language) || text.length > LONGEST) return <>{text}</>
  const parts: (string | preact.JSX.Element)[] = []
  let end = 0
  for (const found of text.matchAll(TOKEN)) {
    const [whole, comment, quoted, number, word = ''] = found
    const kind = comment ? 'c' : quoted ? 's' : number ? 'n' : KEYWORDS.has(word.toLowerCase()) ? 'k' : ''
    if (!kind) continue
    parts.push(text.slice(end, found.index), <span class={`tok-${kind}`}>{whole}</span>)
    end = found.index + whole.length
  }
  return (
    <>
      {parts}
      {text.slice(end)}
    </>
  )
}
