import fc from 'fast-check'

/** A request that a call sends, and the field that a rule reads of it. */
export interface Sent {
  method: string
  /** Query of the address, without `?`. */
  query: string
  /** Content type; absent if the call has none. */
  type?: string
  body: string
  field: string
}

/** Arguments of the call that sends a request. */
export const callOf = ({ method, query, type, body }: Sent) => ({
  url: `https://bank.example/pay${query ? `?${query}` : ''}`,
  method,
  ...(type !== undefined && { headers: { 'Content-Type': type } }),
  ...(body && { body }),
})

const FORM = 'application/x-www-form-urlencoded'
const oneOf = <T>(...values: T[]) => fc.constantFrom(...values)
/** Mostly the first. */
const mostly = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, oneOf(...others))

const spellingsOf = (name: string): string[] => {
  const [first = '', rest] = [name[0], name.slice(1)]
  return [
    name.toUpperCase(),
    first.toUpperCase() + rest,
    ` ${name}`,
    `${name} `,
    `[${name}]`,
    `${name}[]`,
    `${name}[0]`,
    `${name}.value`,
    `${name}\u0000x`,
    `${name}\t`,
    name.replace('_', '.'),
    name.replace('_', ' '),
    name.replace('s', '\u017f'),
    `__proto__[${name}]`,
    `"${name}`,
  ]
}

const nameOf = (wanted: string) =>
  fc.oneof(
    { weight: 4, arbitrary: oneOf('note', 'to', 'metadata', 'é', 'id', 'for', 'from', 'pays', 'amounts') },
    { weight: 5, arbitrary: fc.constant(wanted) },
    { weight: 1, arbitrary: oneOf(...spellingsOf(wanted)) },
  )

const NUMBERS = ['5', '0', '-5', '9999', '12.50', '0.1', '999999999999999', '9007199254740993', '123456789.123456789']
const OTHERS = [
  '',
  '+5',
  '05',
  '5.',
  '.5',
  '1e3',
  '5E-1',
  '0x10',
  '1_000',
  '1,000',
  ' 5',
  '5 ',
  '٥',
  'NaN',
  'Infinity',
  'true',
]

const written = (text: string) =>
  fc.oneof(
    { weight: 9, arbitrary: fc.constant(text) },
    { weight: 1, arbitrary: fc.constant(encodeURIComponent(text).replaceAll('%20', '+')) },
    {
      weight: 1,
      arbitrary: fc.constant(
        [...text].map((c) => (c < '\u0080' ? `%${c.charCodeAt(0).toString(16).padStart(2, '0')}` : c)).join(''),
      ),
    },
  )

const formOf = (wanted: string) => {
  const field = fc
    .tuple(nameOf(wanted), fc.oneof({ weight: 9, arbitrary: oneOf(...NUMBERS) }, oneOf(...OTHERS)))
    .chain(([name, value]) => fc.tuple(written(encodeURI(name).replaceAll('%20', '+')), written(value)))
    .chain(([name, value]) => mostly(`${name}=${value}`, name, `${name}=${value}=`, `=${value}`))
  return fc
    .tuple(
      fc.array(field, { minLength: 1, maxLength: 4 }),
      mostly('&', ';', '&&', '&amp;', '\n'),
      mostly('', '&', '%', '%ff', '\r\n', '{"amount":7}'),
    )
    .map(([fields, between, end]) => fields.join(between) + end)
}

const jsonOf = (names: readonly string[]): fc.Arbitrary<string> => {
  const [first = '', ...rest] = names
  const number = fc.oneof(
    { weight: 9, arbitrary: oneOf(...NUMBERS) },
    { weight: 4, arbitrary: oneOf(...NUMBERS.map((n) => `"${n}"`)) },
    oneOf(...OTHERS, ...OTHERS.map((n) => JSON.stringify(n)), '[5]', '{"value":5}', 'null', '"\\u0035"', '1e1000'),
  )
  const value = rest.length > 0 ? fc.oneof({ weight: 5, arbitrary: jsonOf(rest) }, number) : number
  const name = nameOf(first).chain((text) =>
    mostly(
      JSON.stringify(text),
      JSON.stringify(text).replace('a', '\\u0061'),
      JSON.stringify(text).replace('s', '\\u0073'),
    ),
  )
  const entry = fc.tuple(name, mostly(':', ' : '), value).map((parts) => parts.join(''))
  return fc
    .tuple(
      mostly('{', ' {', '[{', '\ufeff{'),
      fc.array(entry, { minLength: 1, maxLength: 3 }),
      mostly('}', '} ', ',}', '}]', '}{"amount":7}', '}&amount=7'),
    )
    .map(([start, entries, end]) => start + entries.join(',') + end)
}

/** Requests whose fields are numbers that all frameworks read, and every trick that once made them differ. */
export const requests = (): fc.Arbitrary<Sent> =>
  oneOf<readonly string[]>(['amount'], ['pay_amount'], ['sum'], ['pay', 'pay_amount']).chain((names) => {
    const [first = ''] = names
    const bodies = [
      fc.record({
        type: mostly<string | undefined>(
          'application/json',
          'Application/JSON;charset="UTF-8"',
          'application/json; charset=utf-16',
          'application/vnd.bank+json',
          'text/json',
          FORM,
          undefined,
        ),
        body: jsonOf(names),
      }),
      fc.record({
        type: mostly<string | undefined>(
          FORM,
          `${FORM}; charset=utf-8`,
          `${FORM}; charset=iso-8859-1`,
          'application/json',
          'text/plain',
          undefined,
        ),
        body: formOf(first),
      }),
      fc.record({
        type: fc.constant('multipart/form-data; boundary=x'),
        body: oneOf(...NUMBERS).map(
          (n) =>
            `${first}=${n}&x=\r\n--x\r\nContent-Disposition: form-data; name="${first}"\r\n\r\n9\r\n--x--\r\n&${first}=7`,
        ),
      }),
    ]
    const query = fc.oneof(
      { weight: 4, arbitrary: fc.constant('') },
      { weight: 1, arbitrary: oneOf('to=x', `${first}=9999`, `[${first}]=9999`, `${first.toUpperCase()}=9999`) },
    )
    const method = mostly('POST', 'PUT', 'PATCH', 'DELETE', 'GET')
    const inBody = fc
      .tuple(
        fc.oneof(
          { weight: 6, arbitrary: bodies[0] as (typeof bodies)[0] },
          { weight: 6, arbitrary: bodies[1] as (typeof bodies)[0] },
          bodies[2] as (typeof bodies)[0],
        ),
        query,
        method,
      )
      .map(([body, search, verb]) => ({ ...body, query: search, method: verb, field: `body.${names.join('.')}` }))
    const inQuery = fc
      .tuple(formOf(first), mostly('', `${first}=9999`, `{"${first}":9999}`, 'to=x'), mostly('GET', 'POST'))
      .map(([search, body, verb]) => ({
        query: queryOf(search),
        body,
        method: verb,
        type: body.startsWith('{') ? 'application/json' : FORM,
        field: `query.${first}`,
      }))
    return fc.oneof({ weight: 3, arbitrary: inBody }, { weight: 1, arbitrary: inQuery })
  })

/** A query as it is sent: agents can only use printable ASCII, and what URLs don't allow is escaped. */
const queryOf = (text: string): string => {
  const ascii = [...text]
    .map((c) => (c > ' ' && c < '\u007f' && c !== '#' && c !== '\\' ? c : encodeURIComponent(c)))
    .join('')
  return new URL(`https://bank.example/?${ascii}`).search.slice(1)
}
