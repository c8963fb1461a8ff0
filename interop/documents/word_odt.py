def odt_cases(folder, language, text):
    return iter(())
