// Common substitutions in passwords.
const lookalikes: Record<string, string> = {
  '@': 'a',
  '4': 'a',
  '3': 'e',
  '1': 'i',
  '!': 'i',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
}

// Words of the service itself, which are the first that somebody guesses here (NIST SP 800-63B §5.1.1.2), and words that
// people put beside them. A password of nothing else is common. No word is the beginning of another: the time is linear.
const ownWords =
  /^(?:my|our|the|new|workspaces?|teams?|seeds?|evidence|validat(?:e|ion)|kits?|agents?|invites?|ideas?|hypothesis|password|admin|login|welcome|[\s._-])+$/

let common: Promise<ReadonlySet<string>> | undefined

/**
 * Whether a password is too common (NIST SP 800-63B §5.1.1.2): one of the 49,000 most common ones or words of the service,
 * in any case, also with digits and signs around it, with lookalike characters, or repeated.
 */
export async function isCommonPassword(password: string): Promise<boolean> {
  common ??= load()
  const list = await common
  return guessesOf(password.toLowerCase()).some((guess) => list.has(guess) || ownWords.test(guess))
}

/** Loads the list at the first use, since it takes 100 ms. */
async function load(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return new Set(dictionary['passwords-common'])
}

function guessesOf(password: string): string[] {
  const once = dropRepetition(password)
  const words = [once, dropRepetition(trim(once))]
  return [password, ...words, ...words.map(replaceLookalikes), trim(replaceLookalikes(once))]
}

const isLetter = (character: string | undefined) => character !== undefined && /\p{L}/u.test(character)

/**
 * The part from the first to the last letter, if it is at least half of the text: a longer rest may be hard to guess.
 */
function trim(text: string): string {
  const characters = Array.from(text)
  const from = characters.findIndex(isLetter)
  const inner = characters.slice(from, characters.findLastIndex(isLetter) + 1)
  return inner.length * 2 < characters.length ? text : inner.join('')
}

/** The shortest part of which the text is a repetition, or the text itself. */
function dropRepetition(text: string): string {
  for (let length = 1; length <= text.length / 2; length++) {
    const part = text.slice(0, length)
    if (text.length % length === 0 && part.repeat(text.length / length) === text) return part
  }
  return text
}

function replaceLookalikes(text: string): string {
  return Array.from(text, (character) => lookalikes[character] ?? character).join('')
}
