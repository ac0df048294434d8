/** The text after a fenced block's opening backticks, such as `sh tab=Python`, `json answer` or `ts not-run="reason"`. */
export interface CodeInfo {
  language: string
  /** File name under which the reader saves the block. */
  file: string | undefined
  /** Name of the tab, in a group of blocks that show the same in several languages. */
  tab: string | undefined
  /** True for the response to the command before it. */
  isAnswer: boolean
  /** Reason why tests can't run the block. */
  notRun: string | undefined
  /** Attributes other than those above. */
  rest: string
}

const ATTRIBUTE = /([\w-]+)=(?:"([^"]*)"|(\S+))|\S+/g

/** Languages whose blocks are tabs if they follow each other. Others have to say so (`sh tab=Python`). */
const TAB_NAMES: Readonly<Record<string, string>> = { ts: 'TypeScript', js: 'JavaScript', python: 'Python' }

export const parseCodeInfo = (info: string): CodeInfo => {
  const [, language = '', words = ''] = /^(\S*)\s*(.*)$/s.exec(info) ?? []
  const values: Record<string, string> = {}
  const rest: string[] = []
  for (const [whole, name, quoted, plain] of words.matchAll(ATTRIBUTE)) {
    if (name !== undefined && ['file', 'tab', 'not-run'].includes(name)) values[name] = quoted ?? plain ?? ''
    else if (whole === 'answer') values.answer = whole
    else rest.push(whole)
  }
  return {
    language,
    file: values.file,
    tab: values.tab ?? TAB_NAMES[language],
    isAnswer: values.answer !== undefined,
    notRun: values['not-run'],
    rest: rest.join(' '),
  }
}
