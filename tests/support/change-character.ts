/** The text with another character at a place. */
export const changeCharacter = (text: string, place: number): string =>
  text.slice(0, place) + (text[place] === 'A' ? 'B' : 'A') + text.slice(place + 1)
