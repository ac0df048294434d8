import { type Message, mapText } from './icu.ts'

const PLAIN = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const ACCENTED = 'áƀćđéƒğĥíĵķļɱñóþɋŕšţúṽŵẋýžÁɃĆĐÉƑĞĤÍĴĶĻṀÑÓÞɊŔŠŢÚṼŴẊÝŽ'

/**
 * Translates into the tests' language: accented letters, a third longer, and between brackets that show where a text is cut.
 */
export const pseudo = (english: Message): Message => {
  let length = 0
  const accented = mapText(english, (text) => {
    length += text.length
    return text.replaceAll(/[a-zA-Z]/g, (letter) => ACCENTED[PLAIN.indexOf(letter)] ?? letter)
  })
  const [open, close] = ['⟦', `${' ṽéŕý'.repeat(Math.floor(length / 15))}⟧`]
  return [{ type: 0, value: open }, ...accented, { type: 0, value: close }]
}
