def rtf_cases(folder, language, text):
    return iter(())
